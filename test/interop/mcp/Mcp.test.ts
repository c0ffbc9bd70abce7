/** MCP without a network; `test/sdk` tries it against the official client and servers. */
import { assert, it } from "@effect/vitest"
import { Tool, ToolError } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Duration, Effect, Fiber, Option, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { cached, call, fake, inputSchema, named, ours, refusing, text, url, withTools } from "./_support/fakeServer.ts"

const connect = (options?: Mcp.Options) => Mcp.connect("shop", Mcp.http({ url }), options)

/** How a call of the only tool fails, by what the server answers. */
const failing = (answer: () => object | Response) =>
  Effect.gen(function* () {
    const server = yield* connect()
    const error = yield* Effect.flip(call(server, "sell"))
    assert(error instanceof ToolError.ExecutionError)
    assert.deepInclude(error, { tool: "sell", kind: "mcp-tool", category: "mcp" })
    assert(error.cause instanceof Mcp.McpError)
    assert.deepInclude(error.cause, { server: "shop", tool: "sell" })
    const { isRetryable, recovery, suggestedDelay } = error
    return {
      reason: error.cause.reason,
      isRetryable,
      recovery,
      delay: Duration.toMillis(suggestedDelay),
      message: error.message
    }
  }).pipe(Effect.provide(withTools([{ name: "sell", inputSchema }], answer).layer))

it.effect(
  "each failure of a server is of category mcp, names tool and server, and states whether to repeat the call [P1107]",
  () =>
    Effect.gen(function* () {
      const tried = {
        toolFailed: yield* failing(() => ({ isError: true, content: text("sold out") })),
        invalid: yield* failing(() => refusing(-32_602, "n is missing")),
        toolInvalid: yield* failing(() => ({ isError: true, content: text("MCP error -32602: n is missing") })),
        gone: yield* failing(() => refusing(-32_601)),
        internal: yield* failing(() => refusing(-32_603)),
        key: yield* failing(() => new Response("who are you?", { status: 401 })),
        busy: yield* failing(() => new Response(null, { status: 429, headers: { "retry-after": "7" } })),
        down: yield* failing(() => new Response(null, { status: 503 })),
        odd: yield* failing(() => ({ contents: 1 }))
      }
      const by = (name: keyof typeof tried) => {
        const { delay, isRetryable, reason, recovery } = tried[name]
        return [reason, isRetryable, recovery, delay]
      }
      assert.strictEqual(tried.toolFailed.message, "tool 'sell' of MCP server 'shop': sold out")
      assert.deepStrictEqual(by("toolFailed"), ["tool", true, "resend", 1000])
      assert.deepStrictEqual(by("invalid"), ["protocol", false, "repair", 0])
      assert.deepStrictEqual(by("toolInvalid"), ["tool", false, "repair", 0])
      assert.deepStrictEqual(by("gone"), ["protocol", false, "none", 0])
      assert.deepStrictEqual(by("internal"), ["protocol", true, "resend", 1000])
      assert.deepStrictEqual(by("key"), ["authentication", false, "none", 0])
      assert.deepStrictEqual(by("busy"), ["connection", true, "resend", 7000])
      assert.deepStrictEqual(by("down"), ["connection", true, "resend", 1000])
      assert.deepStrictEqual(by("odd"), ["protocol", false, "none", 0])
    })
)

it.effect("a call ends at its time limit, and the server gets a cancellation [P1107]", () =>
  Effect.gen(function* () {
    const { asked, layer } = withTools([{ name: "wait", inputSchema }], () => new Promise<object>(() => undefined))
    yield* Effect.gen(function* () {
      const server = yield* connect({ timeout: "10 seconds" })
      const tool = named(yield* server.tools, "wait")
      const fiber = yield* Effect.forkChild(Effect.flip(Tool.call(tool, {})))
      yield* Effect.yieldNow
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(fiber)
      assert(error instanceof ToolError.ExecutionError && error.cause instanceof Mcp.McpError)
      assert.strictEqual(error.cause.reason, "timeout")
      assert.isTrue(error.isRetryable)
    }).pipe(Effect.scoped, Effect.provide(layer))
    const requests = asked.filter(({ method }) => method === "tools/call").map(({ id }) => id)
    const cancelled = asked.filter(({ method }) => method === "notifications/cancelled").map(({ params }) => params)
    assert.deepStrictEqual(
      cancelled,
      requests.map((requestId) => ({ requestId }))
    )
    assert.strictEqual(cancelled.length, 1)
  })
)

it.effect(
  "the versions of the protocol are tried newest first, and the one that the server names is taken [P1107]",
  () =>
    Effect.gen(function* () {
      for (const version of ["2025-11-25", "2025-06-18", "2024-11-05"] as const) {
        const { asked, layer } = withTools([{ name: "sell", inputSchema }], () => ({ content: text("sold") }), version)
        const server = yield* Effect.provide(connect(), layer)
        assert.strictEqual(server.version, version)
        const { content } = yield* call(server, "sell")
        assert.deepStrictEqual(content, [{ type: "text", text: "sold" }])
        const versions = asked.flatMap(({ headers }) => headers.get("mcp-protocol-version") ?? [])
        assert.deepStrictEqual([versions[0], versions[1], versions.at(-1)], ["2026-07-28", "2025-11-25", version])
      }
      const { layer } = withTools([], undefined, "1999-01-01")
      const error = yield* Effect.flip(Effect.provide(connect(), layer))
      assert.deepInclude(error, { tool: "shop", category: "mcp", isRetryable: false })
    })
)

// Finds out nothing of its own: the client of Effect reads the pages, and bounds them
it.effect("all pages of a list are read, and a list that never ends is refused [P1107]", () =>
  Effect.gen(function* () {
    const pages = fake(({ params }) => {
      const page = Number(params["cursor"] ?? 0)
      return { tools: [{ name: `t${page}`, inputSchema }], ...(page < 2 ? { nextCursor: String(page + 1) } : {}) }
    })
    const names = Effect.flatMap(connect(), (server) =>
      Effect.map(server.tools, (tools) => tools.map(({ name }) => name))
    )
    assert.deepStrictEqual(yield* Effect.provide(names, pages.layer), ["t0", "t1", "t2"])
    const endless = fake(() => ({ tools: [], nextCursor: "again" }))
    const error = yield* Effect.flip(Effect.provide(names, endless.layer))
    assert.deepInclude(error, { tool: "shop", category: "mcp", isRetryable: false })
  })
)

it.effect("names that collide get the name of their server, and every provider admits them [P1107]", () =>
  Effect.gen(function* () {
    const at = (name: string, ...tools: ReadonlyArray<string>) =>
      Mcp.connect(name, Mcp.http({ url })).pipe(
        Effect.provide(
          withTools(
            tools.map((tool) => ({ name: tool, inputSchema })),
            ({ params }) => ({ content: text(`${name}: ${String(params["name"])}`) })
          ).layer
        )
      )
    const servers = [yield* at("git", "search", "pull.request"), yield* at("web", "search", "fetch", "complete")]
    const names = (prefix?: "always" | "never") =>
      Effect.map(Mcp.toolsOf(servers, prefix === undefined ? {} : { prefix }), (tools) => tools.map(({ name }) => name))
    assert.deepStrictEqual(yield* names(), ["git_search", "pull_request", "web_search", "fetch", "complete_"])
    assert.deepStrictEqual(yield* names("always"), [
      "git_search",
      "git_pull_request",
      "web_search",
      "web_fetch",
      "web_complete"
    ])
    assert.deepStrictEqual(yield* names("never"), ["search", "pull_request", "search_2", "fetch", "complete_"])
    // each still reaches its own server, by the server's own name
    const tools = yield* Mcp.toolsOf(servers)
    const said = yield* Effect.forEach(tools, (tool) => Tool.call(tool, {}))
    assert.deepStrictEqual(
      said.map(({ content }) => content.map((part) => (part.type === "text" ? part.text : "")).join()),
      ["git: search", "git: pull.request", "web: search", "web: fetch", "web: complete"]
    )
    assert.deepStrictEqual(
      tools.map(({ definition }) => definition.foreignName),
      ["search", "pull.request", "search", undefined, "complete"]
    )
  })
)

it.effect(
  "every kind of content becomes a part of ours, and the data is checked against the server's own schema [P1107 P1538]",
  () =>
    Effect.gen(function* () {
      const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
      const answers: Record<string, object> = {
        all: {
          content: [
            ...text("hello"),
            { type: "image", data: "aGk=", mimeType: "image/png" },
            { type: "audio", data: "aGk=", mimeType: "audio/wav" },
            { type: "resource_link", uri: "file:///a.txt", name: "a.txt" },
            { type: "resource", resource: { uri: "file:///b.txt", text: "inside" } },
            { type: "resource", resource: { uri: "file:///c", blob: "aGk=", mimeType: "application/pdf" } }
          ]
        },
        data: { content: [], structuredContent: { n: 1 } },
        both: { content: text('{ "n": 1 }'), structuredContent: { n: 1 } },
        more: { content: text("one"), structuredContent: { n: 1 } },
        wrong: { content: [], structuredContent: { n: "x" } }
      }
      const { layer } = withTools(
        Object.keys(answers).map((name) => ({ name, inputSchema, ...(name === "all" ? {} : { outputSchema }) })),
        ({ params }) => answers[String(params["name"])]
      )
      const server = yield* Effect.provide(connect(), layer)
      const tools = yield* server.tools
      const { content } = yield* Tool.call(named(tools, "all"), {})
      assert.deepStrictEqual(content, [
        { type: "text", text: "hello" },
        { type: "image", mediaType: "image/png", data: "aGk=" },
        { type: "file", mediaType: "audio/wav", data: "aGk=" },
        { type: "file", mediaType: "application/octet-stream", url: "file:///a.txt", name: "a.txt" },
        { type: "text", text: "resource file:///b.txt:\ninside" },
        { type: "file", mediaType: "application/pdf", data: "aGk=", name: "file:///c" }
      ])
      const read = (name: string) => {
        const tool = named(tools, name)
        return Effect.flatMap(Tool.call(tool, {}), tool.definition.encode)
      }
      assert.strictEqual(
        yield* read("all"),
        [
          "hello",
          "[image, image/png, 2 bytes, not shown]",
          "[file, audio/wav, 2 bytes, not shown]",
          "[file 'a.txt', application/octet-stream, at file:///a.txt]",
          "resource file:///b.txt:\ninside",
          "[file 'file:///c', application/pdf, 2 bytes, not shown]"
        ].join("\n")
      )
      // a durable run stores its bytes
      const { parts, success } = named(tools, "all").definition
      const stored = yield* Schema.encodeEffect(success)({ content })
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(success)(stored), { content })
      assert.deepStrictEqual(parts?.of({ content }, undefined)?.parts?.[1], content[1])
      assert.strictEqual(yield* read("data"), '{"n":1}')
      assert.strictEqual(yield* read("both"), '{ "n": 1 }')
      assert.strictEqual(yield* read("more"), 'one\n{"n":1}')
      const wrong = yield* Effect.flip(read("wrong"))
      assert(wrong instanceof ToolError.ExecutionError && wrong.cause instanceof Mcp.McpError)
      assert.strictEqual(wrong.cause.reason, "result")
      assert.match(wrong.message, /its result does not fit its own schema: n: Expected number/)
    })
)

it.effect("our client and our server speak the newest version with each other [P1107]", () =>
  Effect.gen(function* () {
    const add = Tool.make("add", {
      description: "Adds.",
      parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
      success: Schema.Struct({ sum: Schema.Finite }),
      sideEffects: "idempotent",
      run: ({ a, b }, { progress }) => Effect.as(progress({ progress: 1, message: "adding" }), { sum: a + b })
    })
    const server = yield* Effect.provide(connect(), yield* ours({ tools: [add], instructions: "Add." }))
    assert.deepInclude(server, { version: "2026-07-28", instructions: "Add." })
    const tool = named(yield* server.tools, "add")
    assert.strictEqual(tool.definition.sideEffects, "idempotent")
    assert.deepStrictEqual(yield* Tool.call(tool, { a: 1, b: 2 }), {
      content: [{ type: "text", text: '{"sum":3}' }],
      structured: { sum: 3 }
    })
    const heard: Array<unknown> = []
    const context = { attempt: 1, callId: "c", idempotencyKey: "c", agent: "a", runScope: Scope.makeUnsafe() }
    yield* tool.definition.run({ a: 1, b: 2 }, { ...context, progress: (data) => Effect.sync(() => heard.push(data)) })
    assert.deepStrictEqual(heard, [{ progress: 1, message: "adding" }])
  })
)

it.effect("when a server reports changed tools the client lists them anew, in the versions of both kinds [P1107]", () =>
  Effect.gen(function* () {
    const notice = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }
    const events = () =>
      new Response(`data: ${JSON.stringify(notice)}\n\n`, { headers: { "content-type": "text/event-stream" } })
    for (const version of ["2026-07-28", "2025-11-25"]) {
      const listening: Array<string> = []
      const { asked, layer } = fake(
        ({ method }) => {
          if (method === "subscriptions/listen") {
            listening.push(method)
            return events()
          }
          return { ...cached, tools: [{ name: `t${listening.length}`, inputSchema }] }
        },
        version,
        () => {
          listening.push("GET")
          return events()
        }
      )
      const server = yield* Effect.provide(connect(), layer)
      assert.strictEqual(server.version, version)
      const changed = yield* Stream.runHead(server.changes)
      assert.deepStrictEqual(
        Option.map(changed, (tools) => tools.map(({ name }) => name)),
        Option.some(["t1"])
      )
      assert.deepStrictEqual(listening, [version === "2026-07-28" ? "subscriptions/listen" : "GET"])
      const listen = asked.find(({ method }) => method === "subscriptions/listen")
      if (listen !== undefined) assert.deepInclude(listen.params, { notifications: { toolsListChanged: true } })
    }
  })
)
