// A process that starts writers when it is told to: node starter.mjs <the built lock module>
const { claimSession } = await import(process.argv[2]);
let claim;
process.on("message", async ({ folder, release }) => {
  if (release) {
    claim?.release();
    claim = undefined;
    process.send("released");
    return;
  }
  try {
    claim = await claimSession(folder, "s");
    process.send("won");
  } catch (error) {
    process.send(error.name === "SessionBusyError" ? "lost" : `${error.name}: ${error.message}`);
  }
});
process.send("ready");
