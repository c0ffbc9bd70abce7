/** A function around the attempts of a model. */
import { assert } from "@effect/vitest"
import { Agent, Explanation, type LlmError, Message, Model, Recovery } from "@kintsugi/core"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Schedule, Stream } from "effect"
import { overADay } from "../../_support/dialogue.ts"
import { asked, hello, namedModel, overloaded } from "../../_support/namedModels.ts"
import { it, type Runner } from "../../_support/run.ts"

const { fails, text } = ScriptedModel
const growing = Schedule.max([Schedule.exponential("1 second"), Schedule.recurs(3)])

/** What a run of an agent tells: its end, when its attempts began, how they ended, what was booked and decided. */
const heard = <E>(run: Runner, bare: Agent.Any<string, string, E, never>) =>
  Effect.gen(function* () {
    const log = RecordedEvents.makeUnsafe()
    const exit = yield* overADay(run(bare.pipe(Agent.onEvent(log.listener)), "go"))
    const starts = log.of("model-start").map(({ at, attempt, model }) => ({ at, attempt, model }))
    const [first = { at: 0 }] = starts
    const end = log.end()
    return {
      exit,
      starts: starts.map(({ at, attempt, model }) => `${attempt} ${model} at ${at - first.at}`),
      ends: log.types().filter((type) => type === "model-failed" || type === "model-end"),
      booked: end !== undefined && "ledger" in end ? end.ledger.map(({ outcome }) => outcome) : [],
      decided: log.of("verdict").map(({ attempt, verdict }) => `${verdict} ${attempt}`)
    }
  })

const failing = (...more: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  namedModel("m", fails(overloaded()), fails(overloaded()), ...more)

it.run("a schedule around the attempts does as one in onLlmError: requests, instants, events, ledger [P1322]", (run) =>
  Effect.gen(function* () {
    const [plain, tabled] = [yield* failing(text("hi")), yield* failing(text("hi"))]
    const model = Model.around(plain.layer, Effect.retry(growing))
    const { decided, ...byCombinator } = yield* heard(run, Agent.seal(Agent.make("a", { model })))
    const table = { ModelOverloadedError: growing }
    const byTable = yield* heard(run, Agent.seal(Agent.make("a", { model: tabled.layer, onLlmError: table })))
    assert.deepStrictEqual(byCombinator, {
      exit: Exit.succeed("hi"),
      starts: ["1 m at 0", "2 m at 1000", "3 m at 3000"],
      ends: ["model-failed", "model-failed", "model-end"],
      booked: ["failed", "failed", "used"]
    })
    assert.deepStrictEqual({ ...byTable, decided }, { ...byCombinator, decided: [] })
    assert.deepStrictEqual(byTable.decided, ["retry 1", "retry 2"])
    assert.deepStrictEqual(plain.requests, tabled.requests)
  })
)

it.run("a table begins where the function has given up, and its attempts count on [P1322]", (run) =>
  Effect.gen(function* () {
    const { layer } = yield* failing(fails(overloaded()), text("hi"))
    const agent = Agent.make("a", {
      model: Model.around((attempt) => Effect.retry(attempt, { times: 1 }))(layer),
      onLlmError: { ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: "1 minute" }) }
    })
    const { decided, exit, starts } = yield* heard(run, Agent.seal(agent))
    assert.deepStrictEqual(exit, Exit.succeed("hi"))
    assert.deepStrictEqual(starts, ["1 m at 0", "2 m at 0", "3 m at 60000", "4 m at 60000"])
    assert.deepStrictEqual(decided, ["retry 2"])
  })
)

it.run("each model of an order is an attempt of it, and the function stands around all of them [P1322]", (run) =>
  Effect.gen(function* () {
    const a = yield* namedModel("a", fails(overloaded()), text("hi"))
    const b = yield* namedModel("b", fails(overloaded()))
    const model = Model.around(Model.fallback(a.layer, b.layer), Effect.retry({ times: 1 }))
    const { exit, starts } = yield* heard(run, Agent.seal(Agent.make("a", { model })))
    assert.deepStrictEqual(exit, Exit.succeed("hi"))
    assert.deepStrictEqual(starts, ["1 a at 0", "2 b at 0", "3 a at 0"])
  })
)

it.effect("a part that a reader has seen is not repeated: the failure goes past the function [P1322]", () =>
  Effect.gen(function* () {
    const shown = fails(overloaded(), { type: "text-delta", text: "half" })
    const { layer, service } = yield* namedModel("m", shown, shown)
    const model = Model.around(layer, Effect.retry({ times: 3 }))
    const log = RecordedEvents.makeUnsafe()
    const agent = Agent.make("a", { model }).pipe(Agent.onEvent(log.listener))
    const exit = yield* Effect.exit(Stream.runDrain(agent.stream("go")))
    assert.isTrue(Exit.isFailure(exit))
    assert.strictEqual(log.of("model-start").length, 1)
    const alone = Model.around(service, Effect.retry({ times: 3 }))
    const parts: Array<string> = []
    const reading = Stream.runForEach(alone.stream(hello), ({ type }) => Effect.sync(() => parts.push(type)))
    assert.strictEqual((yield* Effect.flip(reading))._tag, "ModelOverloadedError")
    assert.deepStrictEqual(parts, ["text-delta"])
  })
)

asked("without a run it stands around each call as well, and the request is what the model is asked [P1322]", (ask) =>
  Effect.gen(function* () {
    const { instants, service } = yield* failing(text("hi"))
    const requests: Array<Model.Request> = []
    const model = Model.around(service, (attempt, request, { name }) => {
      requests.push(request)
      return Effect.retry(attempt, { times: name === "m" ? 2 : 0 })
    })
    assert.strictEqual(Message.textOf(yield* ask(model)), "hi")
    assert.deepStrictEqual([instants.length, requests], [3, [hello]])
  })
)

asked("the cap of a call counts its attempts [P1322]", (ask) =>
  Effect.gen(function* () {
    let requests = 0
    const failing = (): LlmError.LlmError => {
      requests++
      return overloaded()
    }
    const service: Model.Service = {
      name: "m",
      provider: "p",
      generate: () => Effect.suspend(() => Effect.fail(failing())),
      stream: () => Stream.suspend(() => Stream.fail(failing()))
    }
    const model = Model.around(service, (attempt) => Effect.eventually(attempt))
    assert.strictEqual((yield* Effect.flip(ask(model)))._tag, "ModelOverloadedError")
    assert.strictEqual(requests, 10_000)
  })
)

it.effect("the cap holds for functions within each other together [P1322]", () =>
  Effect.gen(function* () {
    let requests = 0
    const busy = Effect.fail(overloaded())
    const service: Model.Service = {
      name: "m",
      provider: "p",
      generate: () => Effect.suspend(() => (requests++, busy)),
      stream: () => Stream.empty
    }
    const model = Model.around(Model.around(service, Effect.retry({ times: 2 })), (attempt) =>
      Effect.eventually(attempt)
    )
    assert.strictEqual((yield* Effect.flip(model.generate(hello)))._tag, "ModelOverloadedError")
    assert.strictEqual(requests, 10_000)
  })
)

it.effect("explain counts up to the cap of a call, since nothing is known of the function [P1322]", () =>
  Effect.gen(function* () {
    const { layer, service } = yield* namedModel("m")
    for (const model of [
      Model.around(service, Effect.retry({ times: 1 })),
      Model.around(layer, Effect.retry({ times: 1 }))
    ]) {
      const explained = Model.explain(model)
      assert.strictEqual(explained.worst.attempts, 10_000)
      assert.include(Explanation.format(explained), "10000 attempts (the cap of a call")
    }
  })
)
