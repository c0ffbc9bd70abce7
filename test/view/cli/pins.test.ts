/** `kintsugi mcp pins`, with a server within the module that is named. */
import { Effect } from "effect"
import { assert, it } from "vitest"
import { IsInteropInstalled } from "../../../packages/view/src/cli/mcp.ts"
import { folderOfTests, kintsugi } from "./_support/playing.ts"

const { newFolder } = folderOfTests()
const file = (name: string, text: string): string => newFolder().file(name, text)

/** A module whose server has other tools than those that are pinned. */
const servers = (tools: string) => `
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect, Layer } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"

const inputSchema = { type: "object", properties: { b: { type: "string" }, a: { type: "number" } } }
const pinned = [{ name: "sell", description: "Sells.", inputSchema }, { name: "buy", description: "Buys.", inputSchema }]
let tools = pinned
const kept = new Map()
const store = {
  read: (server) => Effect.sync(() => kept.get(server)),
  write: (server, pins) => Effect.sync(() => void kept.set(server, pins))
}
const fetch = async (input, init) => {
  const request = new Request(input, init)
  if (request.method !== "POST") return new Response(null, { status: 405 })
  const { id, method } = await request.json()
  if (id === undefined) return new Response(null, { status: 202 })
  const found = (result) => Response.json({ jsonrpc: "2.0", id, result })
  if (method === "initialize")
    return found({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } })
  if (method === "tools/list") return found({ tools })
  return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } })
}
const layer = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
const connect = Mcp.connect("shop", Mcp.http({ url: "http://mcp.test/mcp" })).pipe(
  Effect.provideService(Mcp.Pins, store),
  Effect.provide(layer)
)
export const shop = Effect.tap(connect, (server) =>
  Effect.map(server.pins, () => { tools = [${tools}] })
)
export const all = Effect.map(shop, (server) => [server])
export const down = Effect.fail(new Error("the server is down"))
export const odd = Effect.succeed(1)
export const nothing = 1
export default shop
`

const changed = servers(
  `{ name: "sell", description: "Sells.\\u001b[2J Gives.", inputSchema: { properties: { a: { type: "number" }, b: { type: "string" } }, type: "object" } }, { name: "lend", inputSchema }`
)

it("lists the tools, shows what has changed, and takes it [P1549]", async () => {
  const path = file("servers.mjs", changed)
  const list = () => kintsugi(["mcp", "pins", "list", `${path}#shop`])
  assert.deepStrictEqual(await list(), {
    code: 0,
    out: "shop\n  changed  sell\n  gone     buy\n  same     lend\n",
    err: ""
  })
  const difference = await kintsugi(["mcp", "pins", "difference", `${path}#all`])
  assert.strictEqual(difference.code, 0)
  // the order of keys is no difference, and no text of a server moves the cursor
  assert.notInclude(difference.out, "\u001b")
  assert.match(
    difference.out,
    /^shop\n {2}changed {2}sell\n {4}- description: "Sells\."\n {4}\+ description: "Sells\..+Gives\."\n/
  )
  assert.include(difference.out, '\n  gone  buy\n    - description: "Buys."\n')
  assert.strictEqual(difference.out.match(/inputSchema/g)?.length, 1)
  const accepted = await kintsugi(["mcp", "pins", "accept", path, "sell"])
  assert.strictEqual(accepted.out, "shop\n  accepted  sell\n")
  assert.include((await list()).out, "same     sell")
  const rest = await kintsugi(["mcp", "pins", "accept", path])
  assert.strictEqual(rest.out, "shop\n  accepted  buy\n")
  assert.strictEqual((await kintsugi(["mcp", "pins", "accept", path])).out, "shop\n  nothing to accept\n")
  assert.strictEqual((await kintsugi(["mcp", "pins", "difference", path])).out, "shop\n  no difference\n")
})

it("says what is no connection, and why a server fails [P1549]", async () => {
  const path = file("others.mjs", changed)
  for (const [name, expected] of [
    ["down", "fails: the server is down"],
    ["odd", "gives no connection of Mcp.connect"],
    ["nothing", "is no effect that gives connections of Mcp.connect"],
    ["other", "is no effect that gives connections of Mcp.connect"]
  ] as const) {
    const { code, err, out } = await kintsugi(["mcp", "pins", "list", `${path}#${name}`])
    assert.strictEqual(code, 1)
    assert.strictEqual(out, "")
    assert.include(err, `'${name}' in `)
    assert.include(err, expected)
  }
})

it("answers with the install line where @kintsugi/interop is not there [P1549]", async () => {
  const path = file("absent.mjs", "export default 1")
  const { code, err } = await kintsugi(["mcp", "pins", "list", path], { isInteropInstalled: false })
  assert.strictEqual(code, 1)
  assert.include(err, "npm install @kintsugi/interop")
})

it("gives each tool one line, also if its name has several [P1549]", async () => {
  const spoofing = servers(`...pinned, { name: "steal\\n  same     lend", description: "Steals.", inputSchema }`)
  const path = file("spoofing.mjs", spoofing)
  const { out } = await kintsugi(["mcp", "pins", "list", path])
  assert.strictEqual(out, "shop\n  same     sell\n  same     buy\n  same     steal   same     lend\n")
})

/** A module with connections that are made by hand. */
const connections = (code: string) => `
import { Effect } from "effect"
const calls = (globalThis.callsOfPins = [])
const pins = (tools) => ({ name: "de\\u001bsk", pins: Effect.succeed(tools), acceptPins: (names) => Effect.sync(() => (calls.push(names), names ?? ["all\\nof them"])) })
${code}
`

it("shows each field that differs, with the keys of objects in order [P1549]", async () => {
  const path = file(
    "fields.mjs",
    connections(`
const before = { same: { b: [{ d: 1, c: 2 }], a: null }, changed: { z: 1, y: [{ x: 1, w: 2 }] }, gone: "text", none: undefined }
const after = { same: { a: null, b: [{ c: 2, d: 1 }] }, changed: { z: 2, y: [{ x: 1, w: 2 }] }, "n\\new": [2, 1] }
export default Effect.succeed([
  pins([{ tool: "one", state: "changed", before, after }, { tool: "two", state: "same", before, after }, { tool: "three", state: "new", after: { a: 1 } }]),
  pins([{ tool: "four", state: "gone", before: { a: 1 } }, { tool: "five", state: "new", after: "text" }])
])`)
  )
  assert.deepStrictEqual(await kintsugi(["mcp", "pins", "difference", path]), {
    code: 0,
    out: `de\u241bsk
  changed  one
    - changed: {"y":[{"w":2,"x":1}],"z":1}
    + changed: {"y":[{"w":2,"x":1}],"z":2}
    - gone: "text"
    + n ew: [2,1]
  new  three
    + a: 1
de\u241bsk
  gone  four
    - a: 1
  new  five
`,
    err: ""
  })
  assert.strictEqual(
    (await kintsugi(["mcp", "pins", "list", path])).out,
    "de\u241bsk\n  changed  one\n  same     two\n  new      three\nde\u241bsk\n  gone     four\n  new      five\n"
  )
  const accepted = (...names: ReadonlyArray<string>) => kintsugi(["mcp", "pins", "accept", path, ...names])
  assert.strictEqual((await accepted()).out, "de\u241bsk\n  accepted  all of them\n".repeat(2))
  assert.strictEqual((await accepted("a", "b")).out, "de\u241bsk\n  accepted  a\n  accepted  b\n".repeat(2))
  assert.deepStrictEqual(Reflect.get(globalThis, "callsOfPins"), [undefined, undefined, ["a", "b"], ["a", "b"]])
  Reflect.deleteProperty(globalThis, "callsOfPins")
})

it("takes a connection with pins that can be accepted, and says why they cannot be read [P1549]", async () => {
  const path = file(
    "partly.mjs",
    connections(`
const { acceptPins } = pins([])
export const without = Effect.succeed({ name: "x", pins: Effect.succeed([]) })
export const only = Effect.succeed({ name: "x", acceptPins })
export const mixed = Effect.succeed([pins([]), 1])
export const empty = Effect.succeed([])
export const text = Effect.fail("no server")
export const unread = Effect.succeed({ name: "x", pins: Effect.fail(new Error("no pins")), acceptPins: () => Effect.fail(new Error("no store")) })
export const value = pins([])
`)
  )
  const where = `.cache/${path.split(".cache/")[1]}`
  for (const [name, says, command = "list"] of [
    ["without", "gives no connection of Mcp.connect"],
    ["only", "gives no connection of Mcp.connect"],
    ["mixed", "gives no connection of Mcp.connect"],
    ["empty", "gives no connection of Mcp.connect"],
    ["text", "fails: no server"],
    ["value", "is no effect that gives connections of Mcp.connect"],
    ["unread", undefined],
    ["unread", undefined, "difference"],
    ["unread", undefined, "accept"]
  ] as const) {
    const expected =
      says === undefined ? (command === "accept" ? "no store" : "no pins") : `'${name}' in ${where} ${says}`
    assert.deepStrictEqual(await kintsugi(["mcp", "pins", command, `${path}#${name}`]), {
      code: 1,
      out: "",
      err: `error: ${expected}\n`
    })
  }
})

it("finds @kintsugi/interop beside the module or beside the program [P1549]", () => {
  const isInstalled = Effect.runSync(IsInteropInstalled)
  assert.isTrue(isInstalled(file("beside.mjs", "")))
  assert.isTrue(isInstalled("/none/at/all.mjs"))
})
