/** A greeting for someone; without a name, for everyone. */
export function greet(name) {
  return `Hello, ${name || "world"}`;
}
