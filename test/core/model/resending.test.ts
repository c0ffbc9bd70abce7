/** What a table for the requests of a transport does with each failure, and at a deadline. */
import { assert, it } from "@effect/vitest"
import { Agent, type LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Duration, Effect, Exit, Stream } from "effect"
import { Resending } from "../../../packages/core/src/model/resending.ts"
import { eventLog, overADay } from "../../_support/dialogue.ts"
import { hello, namedModel, overloaded } from "../../_support/namedModels.ts"

const instead = ScriptedModel.reply({ content: [Message.text("instead")] })

/** A transport that fails each send with `error`, and that a table stands before. */
const failing = (table: Model.TransportRows, error: LlmError.LlmError, resend: boolean, patience = Infinity) => {
  const instants: Array<number> = []
  const resending = Model.resending(table)
  const sent = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const attempt = Effect.flatMap(Clock.currentTimeMillis, (at) => {
      instants.push(at - now)
      return Effect.fail({ error, resend })
    })
    return resending<Message.Reply, never>({ attempt, deadline: now + patience, given: (reply) => reply })
  })
  return { instants, sent }
}

const twice = Recovery.retry({ retries: 2, initialBackoff: "1 second" })

it.effect("a failure is sent again only where that is allowed, and only then `orElse` sees it [P1321]", () =>
  Effect.gen(function* () {
    const answering = () => Effect.succeed(instead)
    for (const [table, resend, expected, sends] of [
      [{ ModelOverloadedError: twice }, true, "failed", [0, 1000, 3000]],
      [{ ModelOverloadedError: twice }, false, "failed", [0]],
      [{ orElse: twice }, true, "failed", [0, 1000, 3000]],
      [{ orElse: twice }, false, "failed", [0]],
      [{ ModelOverloadedError: answering }, true, "instead", [0]],
      [{ ModelOverloadedError: answering }, false, "instead", [0]],
      [{ orElse: answering }, true, "instead", [0]],
      [{ orElse: answering }, false, "failed", [0]],
      [{ NetworkError: twice }, true, "failed", [0]],
      [{}, true, "failed", [0]]
    ] as const) {
      const error = overloaded()
      const { instants, sent } = failing(table, error, resend)
      const exit = yield* overADay(sent)
      assert.deepStrictEqual(exit, expected === "failed" ? Exit.fail(error) : Exit.succeed(instead))
      assert.deepStrictEqual<ReadonlyArray<number>>(instants, sends)
    }
  })
)

it.effect("a wait beyond the deadline of the run ends the run, beyond that of the send only the send [P1321]", () =>
  Effect.gen(function* () {
    for (const [ofRun, ofSend, reason] of [
      [500, Infinity, "maxDuration"],
      [500, 500, "maxDuration"],
      [5000, 500, undefined],
      [5000, Infinity, undefined]
    ] as const) {
      const error = overloaded()
      const { instants, sent } = failing(
        { ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 second" }) },
        error,
        true,
        ofSend
      )
      const log = eventLog()
      const model: Model.Service = { name: "a", provider: "p", generate: () => sent, stream: () => Stream.die("no") }
      const agent = Agent.make("worker", { budget: { maxDuration: Duration.millis(ofRun) } }).pipe(log.listen)
      const exit = yield* overADay(agent("go").pipe(Effect.provideService(Model.Model, model)))
      const failure = yield* Effect.flip(exit)
      if (reason === undefined) assert.strictEqual(failure, error)
      else assert.deepInclude(failure, { _tag: "BudgetExceededError", reason })
      const isSent = reason === undefined && ofSend === Infinity
      assert.deepStrictEqual(instants, isSent ? [0, 1000] : [0])
      assert.deepStrictEqual(
        log.of("verdict").map(({ layer, tag, verdict }) => ({ layer, tag, verdict })),
        log.of("verdict").map(() => ({ layer: "transport", tag: "ModelOverloadedError", verdict: "retry" }))
      )
      assert.isAbove(log.of("verdict").length, 0)
    }
    // outside of a run only the send has a deadline
    const error = overloaded()
    const { instants, sent } = failing({ orElse: twice }, error, true, 1500)
    assert.deepStrictEqual(yield* overADay(sent), Exit.fail(error))
    assert.deepStrictEqual(instants, [0, 1000])
  })
)

it.effect("a table for a model takes the place of the retries of its transport only if it says so [A815]", () =>
  Effect.gen(function* () {
    for (const [transport, resending] of [
      [undefined, "on"],
      ["off", "off"]
    ] as const) {
      const { service } = yield* namedModel("a", ScriptedModel.text("hello"))
      const seen: Array<string> = []
      const look = Effect.map(Model.Resending, (is) => void seen.push(is))
      const watched = {
        ...service,
        generate: (request: Model.Request) => Effect.andThen(look, service.generate(request))
      }
      const options = transport === undefined ? {} : { transport }
      yield* Model.onError(watched, {}, options).generate(hello)
      assert.deepStrictEqual(seen, [resending])
    }
  })
)

it("a transport resends by default, and its switch has a name that copies of the package share", () => {
  assert.strictEqual(Resending.key, "@kintsugi/core/Model/Resending")
  assert.strictEqual(Resending.defaultValue(), "on")
})
