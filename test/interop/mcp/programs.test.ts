/** Programs as MCP servers, without a process; `stdio.process.test.ts` starts real ones. */
import { assert, it } from "@effect/vitest"
import { ToolError } from "@kintsugi/core"
import * as Mcp from "@kintsugi/interop/Mcp"
import { type Cause, Deferred, Effect, Fiber, Logger, Queue, Redacted, Sink, Stream } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { TestClock } from "effect/testing"
import { call } from "./_support/fakeServer.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** What a program does with its output, and with itself. */
interface Program {
  readonly print: (text: string | Uint8Array) => void
  readonly write: (text: string) => void
  readonly exit: (code: number) => void
  /** Closes its standard output, and goes on. */
  readonly close: () => void
}

interface Message {
  readonly id: number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Starts programs in this process: each gets the messages of its input. */
const spawning = (begin: (program: Program) => (message: Message) => void) => {
  const started: Array<unknown> = []
  /** The number of each program that was stopped, counted from 1. */
  const stopped: Array<number> = []
  const spawner = ChildProcessSpawner.make((command) =>
    Effect.gen(function* () {
      assert(command._tag === "StandardCommand")
      const { args, options } = command
      const nth = started.length + 1
      yield* Effect.addFinalizer(() => Effect.sync(() => void stopped.push(nth)))
      started.push({ command: command.command, args, env: options.env, cwd: options.cwd })
      const out = yield* Queue.unbounded<Uint8Array, Cause.Done>()
      const err = yield* Queue.unbounded<Uint8Array, Cause.Done>()
      const exited = yield* Deferred.make<ChildProcessSpawner.ExitCode>()
      const exit = (code: number) => {
        Queue.endUnsafe(out)
        Queue.endUnsafe(err)
        Deferred.doneUnsafe(exited, Effect.succeed(ChildProcessSpawner.ExitCode(code)))
      }
      const take = begin({
        print: (text) => void Queue.offerUnsafe(out, typeof text === "string" ? bytesOf(text) : text),
        write: (text) => void Queue.offerUnsafe(err, bytesOf(text)),
        close: () => {
          Queue.endUnsafe(out)
          Queue.endUnsafe(err)
        },
        exit
      })
      const reading = Sink.forEach((bytes: Uint8Array) =>
        Effect.sync(() => {
          for (const line of new TextDecoder().decode(bytes).split("\n")) if (line !== "") take(JSON.parse(line))
        })
      )
      return ChildProcessSpawner.makeHandle({
        pid: ChildProcessSpawner.ProcessId(1),
        exitCode: Deferred.await(exited),
        isRunning: Effect.succeed(true),
        kill: () => Effect.sync(() => exit(143)),
        stdin: Sink.map(reading, () => exit(0)),
        stdout: Stream.fromQueue(out),
        stderr: Stream.fromQueue(err),
        all: Stream.empty,
        getInputFd: () => Sink.drain,
        getOutputFd: () => Stream.empty,
        unref: Effect.succeed(Effect.void)
      })
    })
  )
  return { started, stopped, provided: Effect.provideService(ChildProcessSpawner.ChildProcessSpawner, spawner) }
}

const answer = (id: number, result: object) => `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`

/** Answers a message as a server with one tool does, whose calls are left to `called`. */
const serving = (program: Program, { id, method, params }: Message, called: (id: number, args: object) => void) => {
  if (method === "server/discover")
    program.print(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message: "unknown" } })}\n`)
  if (method === "initialize") {
    const serverInfo = { name: "mine", version: "1" }
    program.print(answer(id, { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo }))
  }
  if (method === "tools/list") program.print(answer(id, { tools: [{ name: "dig", inputSchema: { type: "object" } }] }))
  if (method === "tools/call") called(id, Object(params["arguments"]))
}

const digging = (called: (program: Program, id: number, args: object) => void) =>
  spawning((program) => (message) => serving(program, message, (id, args) => called(program, id, args)))

const inherited = [
  "HOME",
  "LANG",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "USER",
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "NUMBER_OF_PROCESSORS",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE"
]

/** Runs an effect with these variables of the environment, and no others. */
const withVariables = (variables: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.env
      process.env = { ...variables }
      return before
    }),
    (before) =>
      Effect.sync(() => {
        process.env = before
      })
  )

it.effect("a program gets its arguments, and of the environment what programs need and its own variables [P202]", () =>
  Effect.gen(function* () {
    const variables = Object.fromEntries(inherited.map((name) => [name, `of ${name}`]))
    const token = Redacted.make("tok-1234-abcd-5678")
    for (const [given, options] of [
      [{ ...variables, KINTSUGI_TEST_SECRET: "x", home: "y" }, {}],
      [variables, { args: ["-a", token], env: { TOKEN: token, HOME: "mine" }, cwd: "/mine" }],
      [{ PATH: "/bin" }, {}]
    ] as const) {
      const { provided, started } = digging(() => undefined)
      yield* Effect.scoped(
        Effect.andThen(withVariables(given), Mcp.connect("mine", Mcp.stdio({ command: "dig", ...options })))
      ).pipe(provided)
      const needed = Object.fromEntries(Object.entries(given).filter(([name]) => inherited.includes(name)))
      assert.deepStrictEqual(started, [
        {
          command: "dig",
          args: "args" in options ? ["-a", "tok-1234-abcd-5678"] : [],
          env: { ...needed, ...("env" in options ? options.env : {}) },
          cwd: "cwd" in options ? options.cwd : undefined
        }
      ])
    }
  })
)

it.effect("messages come in pieces of any length, between lines that are none [P1386]", () =>
  Effect.gen(function* () {
    const { provided } = digging((program, id) => {
      const content = [{ type: "text", text: "gold ü" }]
      const all = `[INFO] digging\n${JSON.stringify({ jsonrpc: "2.0", method: "x" })}\n${answer(id, { content })}`
      const bytes = bytesOf(all)
      // a piece may end within a character
      for (let at = 0; at < bytes.length; at += 3) program.print(bytes.slice(at, at + 3))
    })
    yield* Effect.gen(function* () {
      const server = yield* Mcp.connect("mine", Mcp.stdio({ command: "dig" }))
      for (let calls = 0; calls < 2; calls++)
        assert.deepStrictEqual((yield* call(server, "dig")).content, [{ type: "text", text: "gold ü" }])
    }).pipe(Effect.scoped, provided)
  })
)

it.effect("a program that exits fails its call with its last words, and is started once more by the next [P1386]", () =>
  Effect.gen(function* () {
    const noise = [
      "[INFO] starting",
      '{"level":"info"}',
      "[1,2]",
      "null",
      "{",
      '{"jsonrpc":"2.0"}',
      '{"jsonrpc":"1.0","id":1,"result":{}}'
    ]
    const { provided, started } = digging((program, id, args) => {
      if (!("isLast" in args)) return program.print(answer(id, { content: [] }))
      program.print(`${noise.join("\n")}\n`)
      program.print('{"jsonrpc":"2.0","method":"notifications/x"}\n')
      program.write("the mine ")
      program.write("is closed\n")
      program.exit(3)
    })
    yield* Effect.gen(function* () {
      const server = yield* Mcp.connect("mine", Mcp.stdio({ command: "dig" }))
      const error = yield* Effect.flip(call(server, "dig", { isLast: true }))
      assert(error instanceof ToolError.ExecutionError && error.cause instanceof Mcp.McpError)
      assert.strictEqual(error.cause.reason, "connection")
      assert.match(
        error.message,
        /^tool 'dig' of MCP server 'mine': MCP (?:process exited \(3\)|server closed stdout); /
      )
      assert.include(
        error.message,
        `; the last text that it wrote is: the mine is closed; it printed a line that is not a message: ${noise.join("\n")}`
      )
      assert.notInclude(error.message, "notifications/x")
      assert.lengthOf(started, 1)
      assert.deepStrictEqual((yield* call(server, "dig")).content, [])
      assert.lengthOf(started, 2)
      // its words were said
      const later = yield* Effect.flip(call(server, "dig", { isLast: true }))
      assert.strictEqual(later.message.split("the mine is closed").length, 2)
    }).pipe(Effect.scoped, provided)
  })
)

it.effect("an answer that is too deep fails its call alone [P1391 P1393]", () =>
  Effect.gen(function* () {
    const { provided, started } = digging((program, id, args) => {
      const levels = "levels" in args ? Number(args.levels) : 1
      const data = '{"a":'.repeat(levels) + "1" + "}".repeat(levels)
      program.print(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${data}}}\n`)
    })
    yield* Effect.gen(function* () {
      const server = yield* Mcp.connect("mine", Mcp.stdio({ command: "dig" }), { bounds: { depth: 20 } })
      assert.deepStrictEqual((yield* call(server, "dig", { levels: 2 })).structured, { a: { a: 1 } })
      for (const levels of [21, 6000]) {
        const error = yield* Effect.flip(call(server, "dig", { levels }))
        assert.deepInclude(Object(error.cause), {
          _tag: "InputTooLargeError",
          what: "The data that tool 'dig' of MCP server 'mine' gave",
          bound: "depth",
          limit: 20
        })
      }
      assert.lengthOf(started, 1)
    }).pipe(Effect.scoped, provided)
  })
)

it.effect("a tool of a program whose schema is nested too deeply is left out, and the others stay [P1391 P1393]", () =>
  Effect.gen(function* () {
    const nested = '{"a":'.repeat(200_000) + "1" + "}".repeat(200_000)
    const { provided, started } = spawning((program) => (message) => {
      if (message.method !== "tools/list") return serving(program, message, () => undefined)
      const tools = `{"name":"dig","inputSchema":{"type":"object"}},{"name":"deep","inputSchema":{"type":"object","properties":${nested}}}`
      program.print(`{"jsonrpc":"2.0","id":${message.id},"result":{"tools":[${tools}]}}\n`)
    })
    yield* Effect.gen(function* () {
      const server = yield* Mcp.connect("mine", Mcp.stdio({ command: "dig" }))
      const quiet = Effect.provide(server.tools, Logger.layer([]))
      assert.deepStrictEqual(
        (yield* quiet).map(({ name }) => name),
        ["dig"]
      )
      const refused = (yield* server.refused).map(({ cause }) => Object(cause))
      assert.deepStrictEqual(
        refused.map(({ bound, what }) => [what, bound]),
        [["The input schema of tool 'deep' of MCP server 'mine'", "depth"]]
      )
      assert.lengthOf(started, 1)
    }).pipe(Effect.scoped, provided)
  })
)

it.effect("a program that exits at the newest version is started once more for an older one [P1386]", () =>
  Effect.gen(function* () {
    const { provided, started } = spawning((program) => (message) => {
      if (message.method === "server/discover") program.exit(1)
      else serving(program, message, () => undefined)
    })
    const server = yield* Mcp.connect("mine", Mcp.stdio({ command: "dig" })).pipe(provided)
    assert.deepStrictEqual([server.version, started.length], ["2025-11-25", 2])
  })
)

it.effect("a program that exits at an older version fails, and is not started for the next [P1386]", () =>
  Effect.gen(function* () {
    const { provided, started } = spawning((program) => () => program.exit(1))
    const versions = ["2025-11-25", "2025-06-18"] as const
    const error = yield* Effect.flip(Mcp.connect("mine", Mcp.stdio({ command: "dig" }), { versions }).pipe(provided))
    assert(error.cause instanceof Mcp.McpError)
    assert.deepStrictEqual([error.cause.reason, started.length], ["connection", 1])
  })
)

it.effect("a program whose output ends is stopped, and another one gets the next call [P1386]", () =>
  Effect.gen(function* () {
    const { provided, started, stopped } = digging((program, id, args) => {
      if ("isLast" in args) program.close()
      else program.print(answer(id, { content: [] }))
    })
    yield* Effect.gen(function* () {
      const server = yield* Mcp.connect("mine", Mcp.stdio({ command: "dig" }))
      yield* Effect.flip(call(server, "dig", { isLast: true }))
      assert.deepStrictEqual((yield* call(server, "dig")).content, [])
      yield* Effect.repeat(Effect.yieldNow, { times: 100 })
      assert.deepStrictEqual([started.length, stopped], [2, [1]])
    }).pipe(Effect.scoped, provided)
  })
)

it.effect("a program that answers has its failure alone, and one that is silent its last words too [P1386]", () =>
  Effect.gen(function* () {
    const { provided } = digging((program, id, args) => {
      program.write("still digging\n")
      if ("isRefused" in args)
        program.print(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: "no gold" } })}\n`)
    })
    yield* Effect.gen(function* () {
      const server = yield* Mcp.connect("mine", Mcp.stdio({ command: "dig" }), { timeout: "10 seconds" })
      const refused = yield* Effect.flip(call(server, "dig", { isRefused: true }))
      assert.strictEqual(refused.message, "tool 'dig' of MCP server 'mine': no gold (code -32603)")
      const waiting = yield* Effect.forkChild(Effect.flip(call(server, "dig")))
      yield* Effect.repeat(Effect.yieldNow, { times: 100 })
      yield* TestClock.adjust("10 seconds")
      const late = yield* Fiber.join(waiting)
      assert.include(late.message, "the last text that it wrote is: still digging")
    }).pipe(Effect.scoped, provided)
  })
)
