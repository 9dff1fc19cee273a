/** A UUID, in the one spelling that names a session. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a session's id as we write it. Only such a text ever becomes part of a path or a key. */
export function isSessionId(text: string): boolean {
  return ID.test(text);
}

/** The same text. @throws TypeError for what is no id. */
export function checkedId(text: string): string {
  if (!isSessionId(text)) throw new TypeError(`no session id: ${JSON.stringify(text)}`);
  return text;
}
