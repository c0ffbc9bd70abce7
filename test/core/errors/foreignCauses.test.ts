import * as Factories from "@kintsugi/core/Factories"
import { inspect } from "node:util"
import { assert, describe, it as plain } from "@effect/vitest"
import { KintsugiError, LlmError, Recovery, Tool, ToolError } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import { Cause, Effect, Redacted, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, callingOnce, fixer, read, scripted } from "../../_support/dialogue.ts"

const key = "sk-proj-abcdefghijklmnop1234"
const hush = "hush-hush-0815"

/** A foreign failure as HTTP clients throw them: the request, its headers and the answer hang on it. */
const foreign = () =>
  Object.assign(
    new Error("Request failed with status 401", { cause: Object.assign(new Error("inner"), { token: hush }) }),
    {
      code: "ERR_BAD_REQUEST",
      config: { headers: { Authorization: `Bearer ${key}` }, data: hush },
      request: { _header: `authorization: Bearer ${key}` },
      response: { status: 401, data: { error: hush }, headers: { "set-cookie": hush } },
      [Symbol("session")]: hush,
      redacted: Redacted.make(hush)
    }
  )

const aggregate = () => Object.assign(new AggregateError([foreign(), foreign()], "all failed"), { config: { key } })

const codec = Schema.toCodecJson(KintsugiError.KintsugiError)

/** Everything of an error that leaves the process, or that other readers see. */
const outside = (error: KintsugiError.KintsugiError): ReadonlyArray<string> => [
  JSON.stringify(Schema.encodeSync(codec)(error)),
  JSON.stringify(error),
  JSON.stringify(KintsugiError.toProblem(error)),
  error.message,
  String(error),
  // as loggers show an error
  inspect(error, { depth: Infinity }),
  error instanceof ToolError.ExecutionError ? error.detailedMessage : ""
]

const around = (cause: unknown): ReadonlyArray<KintsugiError.KintsugiError> => [
  LlmError.ServerError.make({ model: "m", cause }),
  LlmError.UnknownLlmError.make({ model: "m", cause }),
  Factories.dnsResolutionFailed("host", cause),
  LlmError.MalformedToolCallError.make({ model: "m", tool: "t", detail: "no", cause }),
  ToolError.executionErrorOf({ tool: "t", callId: "c", kind: "local", args: {} }, cause),
  Factories.fromNetworkError("t", "web-service", cause),
  ToolError.exhausted({ tool: "t", callId: "c" }, { failures: [cause, cause], runs: 2 }),
  ToolError.EscalationError.make({ source: "a", reason: "why" }).about({ error: cause, attempts: 1 })
]

describe("foreign causes", () => {
  for (const [what, make] of [
    ["an error of an HTTP client", foreign],
    ["an aggregate", aggregate],
    ["a plain object", () => ({ ...foreign(), message: "it failed" })]
  ] as const) {
    plain(`${what} takes no header, body, config or inner cause along [T6 P202]`, () => {
      for (const error of around(make())) {
        for (const text of outside(error)) {
          assert.notInclude(text, key)
          assert.notInclude(text, hush)
        }
        // in memory the cause is the very same object, for programs that inspect it
        assert.include(JSON.stringify(error), "failed")
      }
    })
  }

  plain(
    "credentials in the words of a failure are masked: keys, bearer tokens, user info and query strings [T6 P202]",
    () => {
      for (const words of [
        `Incorrect API key provided: ${key}.`,
        `authorization: Bearer ${hush}${hush}`,
        `GET https://admin:${hush}@host/path failed`,
        `GET https://host/path?api_key=${hush}&x=1 failed`,
        `password=${hush} is wrong`,
        `{"api_key":"${hush}"}`
      ]) {
        for (const error of around(new Error(words))) {
          for (const text of outside(error)) {
            assert.notInclude(text, key, words)
            assert.notInclude(text, hush, words)
          }
        }
      }
    }
  )

  plain("a hostile cause never makes an encoder throw, and costs no more than a tame one [T6]", () => {
    const cyclic: Record<string, unknown> = { message: "round" }
    cyclic["self"] = cyclic
    cyclic["cause"] = cyclic
    const throwing = Object.defineProperties(new Error("x"), {
      message: {
        get() {
          throw new Error("no")
        }
      },
      code: {
        get() {
          throw new Error("no")
        }
      }
    })
    const refusing = new Proxy(
      {},
      {
        has() {
          throw new Error("no")
        },
        get() {
          throw new Error("no")
        }
      }
    )
    for (const cause of [
      cyclic,
      throwing,
      refusing,
      new Error("x".repeat(10_000_000)),
      Symbol("s"),
      () => 1,
      10n,
      NaN
    ]) {
      const summary = ErrorCause.summarise(cause)
      assert.isAtMost(summary.message.length, 1100)
      const error = new LlmError.UnknownLlmError({ model: "m", message: "m", cause })
      assert.isAtMost(JSON.stringify(error).length, 2500)
      const { cause: back } = Schema.decodeUnknownSync(Schema.toCodecJson(LlmError.UnknownLlmError))(
        JSON.parse(JSON.stringify(error))
      )
      assert.instanceOf(back, ErrorCause.ForeignError)
    }
  })
})

it.run("no planted secret is in what a model or a fixer reads of a failure [P202 L911]", (run) =>
  Effect.gen(function* () {
    const words = () => Object.assign(foreign(), { message: `no access with ${key}, token=${hush}` })
    const telling = scripted("told", Effect.fail(words()))
    const escalated = scripted("escalated", Effect.fail(words()))
    const fixed = scripted("fixed", Effect.fail(words()))
    const { agent: silent, inputs } = fixer(
      Effect.fail(ToolError.EscalationError.make({ source: "fixer", reason: "it cannot be mended" }))
    )
    const model = yield* callingOnce("told", "escalated", "fixed")
    const agent = agentWith(
      telling.tool.pipe(Tool.onError({ orElse: Recovery.tell() })),
      escalated.tool.pipe(Tool.onError({ orElse: Recovery.escalate() })),
      fixed.tool.pipe(Tool.onError({ orElse: Recovery.fix(silent) }))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    for (const text of [...read(model), ...inputs]) {
      assert.notInclude(text, key)
      assert.notInclude(text, hush)
      assert.notMatch(text, /\n\s+at /)
    }
    assert.strictEqual(read(model).length, 3)
  })
)

plain("a cause in a log keeps its lines, and has no other control of a terminal [P1394]", () => {
  const logged = ErrorCause.logged(Cause.fail(new Error("one\n\ttwo\u001b[2J\u009b31m\r\u202ethree")))
  assert.include(logged, "one\n\ttwo\uFFFD[2J\uFFFD31m\uFFFD\uFFFDthree")
})
