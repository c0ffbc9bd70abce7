/** The table of a transport, without a transport: what it resends, what it leaves, and which limit of time ends it. */
import { assert } from "@effect/vitest"
import { Agent, LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Effect, Exit, Stream } from "effect"
import { agentWith, eventLog, overADay } from "../../_support/dialogue.ts"
import { hello, overloaded, unauthorised } from "../../_support/namedModels.ts"
import { it } from "../../_support/run.ts"

const reply = ScriptedModel.reply({ content: [Message.text("done")] })
const stock = ScriptedModel.reply({ content: [Message.text("instead")] })

interface Unsent {
  readonly error: LlmError.LlmError
  readonly resend: boolean
}

const again = (error: LlmError.LlmError): Unsent => ({ error, resend: true })
const once = (error: LlmError.LlmError): Unsent => ({ error, resend: false })

/** A model that sends with a table. The first sends fail, and say whether they may be sent again; the next one is answered. */
const sender = (table: Model.TransportRows, failures: ReadonlyArray<Unsent>, deadline = Infinity) => {
  const send = Model.resending(table)
  const instants: Array<number> = []
  const attempt = Effect.flatMap(Clock.currentTimeMillis, (at) => {
    const failure = failures[instants.length]
    instants.push(at)
    return failure === undefined ? Effect.succeed(reply) : Effect.fail(failure)
  })
  const replied = send({ attempt, deadline, given: (given) => ({ ...given, requestId: "of the table" }) })
  const service: Model.Service = {
    name: "a",
    provider: "of a",
    generate: () => replied,
    stream: () => Stream.unwrap(Effect.map(replied, (reply) => Stream.fromArray(Model.partsOf(reply))))
  }
  return { instants, service }
}

const patient = Recovery.retry({ retries: 3, initialBackoff: "2 seconds", factor: 1 })

for (const [row, table] of Object.entries({
  ModelOverloadedError: { ModelOverloadedError: patient },
  orElse: { orElse: patient }
})) {
  it.effect(`a failure that may be sent again is sent again by the row ${row} [P1321]`, () =>
    Effect.gen(function* () {
      const { instants, service } = sender(table, [again(overloaded()), again(overloaded())])
      assert.deepStrictEqual(yield* overADay(service.generate(hello)), Exit.succeed(reply))
      assert.deepStrictEqual(instants, [0, 2000, 4000])
    })
  )
}

it.effect("a failure that must not be sent again leaves, whatever its row; orElse does not see it [P1321]", () =>
  Effect.gen(function* () {
    const error = unauthorised()
    const rows: ReadonlyArray<Model.TransportRows> = [
      { AuthenticationError: patient },
      { orElse: patient },
      { orElse: Recovery.respondWith(stock) }
    ]
    for (const table of rows) {
      const { instants, service } = sender(table, [once(error)])
      assert.strictEqual(yield* Effect.flip(service.generate(hello)), error)
      assert.deepStrictEqual(instants, [0])
    }
    // a row of its own may answer in place of the server
    const answers = sender({ AuthenticationError: Recovery.respondWith(stock) }, [once(error)])
    assert.deepStrictEqual(yield* answers.service.generate(hello), { ...stock, requestId: "of the table" })
    // the last failure counts, not the one before it
    const later = sender({ orElse: patient }, [again(overloaded()), once(error)])
    assert.deepStrictEqual(yield* overADay(later.service.generate(hello)), Exit.fail(error))
    assert.strictEqual(later.instants.length, 2)
  })
)

it.effect("no wait passes the time limit of the request: the last failure leaves at once [P1321]", () =>
  Effect.gen(function* () {
    const last = overloaded()
    const { instants, service } = sender({ orElse: patient }, [again(overloaded()), again(last)], 3000)
    assert.deepStrictEqual(yield* overADay(service.generate(hello)), Exit.fail(last))
    assert.deepStrictEqual(instants, [0, 2000])
  })
)

for (const { of, sends, reason } of [
  { of: "the run, if it is the nearer one", sends: 5000, reason: "maxDuration" },
  { of: "the run, if both are the same", sends: 3000, reason: "maxDuration" },
  { of: "the request, if it is the nearer one", sends: 2999, reason: undefined }
]) {
  it.run(`in a run, the time that ends the sends is that of ${of} [P1321 P501]`, (run) =>
    Effect.gen(function* () {
      const last = overloaded()
      const failures = [again(overloaded()), again(last), again(overloaded())]
      const { instants, service } = sender({ orElse: patient }, failures, sends)
      const log = eventLog()
      const agent = agentWith().pipe(Agent.withBudget({ maxDuration: 3000 }), log.listen)
      const exit = yield* overADay(Effect.provideService(run(agent, "go"), Model.Model, service))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.deepInclude(error, reason === undefined ? { _tag: "ModelOverloadedError" } : { reason, cause: last })
      assert.deepStrictEqual(instants, [0, 2000])
      const verdicts = log.all.flatMap((event) =>
        event.type === "verdict" ? [[event.layer, event.verdict, event.gaveUp, event.attempt, event.tag]] : []
      )
      assert.deepStrictEqual(verdicts.slice(0, 2), [
        ["transport", "retry", false, 1, "ModelOverloadedError"],
        ["transport", "retry", true, 2, "ModelOverloadedError"]
      ])
    })
  )
}

it.effect("transports resend by themselves, unless a table around them says that they send once [P1327]", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* Model.Resending, "on")
    assert.strictEqual(yield* Model.sendingOnce(Effect.flatMap(Effect.void, () => Model.Resending)), "off")
  })
)
