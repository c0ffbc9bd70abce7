/** A server of the official SDK, with what `server-everything` does not do. Started as a program, over stdio. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { appendFileSync } from "node:fs"
import { z } from "zod"

const server = new McpServer({ name: "shop", version: "1.0.0" })
const log = (line: string) => appendFileSync(process.env["SHOP_LOG"] ?? "/dev/null", `${line}\n`)
const said = (text: string) => ({ content: [{ type: "text" as const, text }] })

// a banner that has no business there
process.stdout.write("shop is open\n")

server.registerTool("sell", { description: "Sells.", inputSchema: { item: z.string() } }, ({ item }) => {
  if (item === "bread") return { ...said("bread is sold out"), isError: true }
  throw new Error(`there is no ${item}, said ${process.env["SHOP_TOKEN"]}`)
})

server.registerTool("wait", { description: "Waits to be cancelled." }, async (extra) => {
  log("waiting")
  await new Promise<void>((resolve) => {
    extra.signal.addEventListener("abort", () => {
      log("cancelled")
      resolve()
    })
  })
  return said("too late")
})

server.registerTool("leave", { description: "Ends the process." }, () => {
  process.stderr.write("the shop is on fire\n")
  process.exit(3)
})

server.registerTool("restock", { description: "Adds a tool." }, () => {
  server.registerTool("milk", { description: "Is new." }, () => said("milk"))
  return said("done")
})

server.registerTool("count", { description: "Counts." }, async (extra) => {
  const progressToken = extra._meta?.progressToken
  if (progressToken !== undefined) {
    for (const progress of [1, 2])
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress, total: 2, message: `step ${progress}` }
      })
  }
  return said("2")
})

await server.connect(new StdioServerTransport())
process.stdin.on("end", () => {
  log("closed")
  process.exit(0)
})
