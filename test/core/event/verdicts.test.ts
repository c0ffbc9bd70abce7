/** What a policy has decided, as data: in events, in the trail of an error, and in the document of a run that waits. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Approval, LlmError, Model, Recovery, type RunError, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import { agentWith, asHard, batch, busy, eventLog, scripted } from "../../_support/dialogue.ts"
import { deciding, outcomeOf, snapshotOf, waitingCalls } from "../../_support/suspension.ts"

const codec = Schema.fromJsonString(AgentEvent.AgentEvent)

/** Events as another process reads them. */
const overJson = (event: AgentEvent.AgentEvent) =>
  Schema.decodeUnknownSync(codec)(Schema.encodeUnknownSync(codec)(event))

const decidedOf = ({ gaveUp, rung, verdict }: RunError.TrailEntry | AgentEvent.OfType<"verdict">) => ({
  verdict,
  gaveUp,
  rung
})

const decided = (verdict: RunError.TrailEntry["verdict"], gaveUp = false, rung = 0) => ({ verdict, gaveUp, rung })

const ladder = (mended: string) =>
  Recovery.ladder(
    Recovery.retry({ retries: 1 }),
    Recovery.fix((_raw: string) => Effect.succeed(mended)),
    Recovery.raise
  )

it.run("an event and the trail have the kind of each verdict, and whether its rung gave up [P1366]", (run) =>
  Effect.gen(function* () {
    const fails = Array.from({ length: 3 }, () => Effect.fail(busy()))
    const { tool } = scripted("fetch", ...fails)
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("fetch"))
    const agent = agentWith(tool.pipe(Tool.onError({ Busy: ladder("{}") }))).pipe(log.listen)
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    const expected = [
      decided("retry"),
      decided("retry", true),
      decided("fix", false, 1),
      decided("fix", true, 1),
      decided("raise", false, 2)
    ]
    const events = log.of("verdict")
    assert.deepStrictEqual(events.map(decidedOf), expected)
    assert.deepStrictEqual(error.trail?.map(decidedOf), expected)
    assert.deepStrictEqual(events.map(overJson), [...events])
    const written = Schema.encodeSync(AgentEvent.AgentEvent)(events[1] ?? assert.fail("nothing was decided"))
    assert.deepInclude(written, { verdict: "retry", gaveUp: true })
    const read = Schema.decodeUnknownSync(AgentEvent.AgentEvent)
    for (const wrong of [{ verdict: "retry exhausted" }, { verdict: "exhausted" }, { gaveUp: "yes" }]) {
      assert.throws(() => read(Object.assign({}, written, wrong)), /verdict|gaveUp/, JSON.stringify(wrong))
    }
  })
)

it.run("verdicts of tables of models and of fallbacks have the same form [P1366]", (run) =>
  Effect.gen(function* () {
    const overloaded = ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "m" }))
    const model = yield* ScriptedModel.make(overloaded, overloaded, overloaded)
    const other = yield* ScriptedModel.make(ScriptedModel.text("done"))
    const log = eventLog()
    const agent = agentWith().pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }), log.listen)
    yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    yield* run(agent, "go").pipe(Effect.provide(Model.fallback(model.layer, other.layer)))
    assert.deepStrictEqual(log.of("verdict").map(decidedOf), [
      decided("retry"),
      decided("retry", true),
      decided("fallback")
    ])
  })
)

const approving = Approval.layer(() => Effect.succeed(Approval.approve))

/** A call that has failed twice; then its arguments were mended, and it waits for a decision about them. */
const waiting = Effect.gen(function* () {
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ cents: Schema.Int }),
    success: Schema.String,
    run: () => Effect.fail(busy())
  }).pipe(Tool.requireApproval({ validFor: "7 days" }), Tool.onError({ Busy: ladder('{"cents":7}') }))
  const agent = agentWith(tool)
  const model = yield* ScriptedModel.make(ScriptedModel.calls(ScriptedModel.call("pay", { cents: 5 }, "c1")))
  const resumed = Agent.resume(agent)
  const first = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
  const outcome = yield* outcomeOf(resumed, deciding(first), model)
  assert(outcome._tag === "Suspended")
  return { resumed, model, text: JSON.stringify(Snapshot.toJson(outcome.snapshot)) }
})

it.run(
  "a run that waits keeps its decisions and the place in its ladder as data, and goes on from there [P1366]",
  (run) =>
    Effect.gen(function* () {
      const { model, resumed, text } = yield* waiting
      const from = yield* Snapshot.fromJson(JSON.parse(text))
      const progress = waitingCalls(from)[0]?.progress
      assert.deepStrictEqual(progress?.trail.map(decidedOf), [
        decided("retry"),
        decided("retry", true),
        decided("fix", false, 1)
      ])
      const seen = { _tag: "Busy", message: "busy" }
      assert.deepInclude(progress?.position, { version: 2, attempts: 2, repairs: 1 })
      assert.deepStrictEqual(progress?.position.slots, [
        { row: "tool.Busy", rungs: [], kind: "ladder", count: 1, steps: [] },
        { row: "tool.Busy", rungs: [0], kind: "retry", count: 0, steps: [0, 0].map((at) => ({ at, seen })) },
        { row: "tool.Busy", rungs: [1], kind: "fix", count: 1, steps: [] }
      ])
      const ended = run(resumed, deciding(from)).pipe(Effect.provide([approving, model.layer]))
      const error = asHard(yield* Effect.flip(ended))
      assert.deepStrictEqual(error.trail?.slice(3).map(decidedOf), [
        decided("fix", true, 1),
        decided("raise", false, 2)
      ])
    })
)

it.effect("a document with a position that no run could have, or of another version, is refused by name [P1366]", () =>
  Effect.gen(function* () {
    const { text } = yield* waiting
    const position = '"position":{"version":2,'
    assert.include(text, position)
    for (const [found, replaced, said] of [
      [
        position,
        '"position":{"version":1,',
        'Expected a position of version 2\n  at ["unfinished"]["calls"][0]["progress"]["position"]["version"]'
      ],
      [
        position,
        '"position":{',
        'Expected a position of version 2\n  at ["unfinished"]["calls"][0]["progress"]["position"]["version"]'
      ],
      ['"kind":"ladder","count":1', '"kind":"ladder","count":-1', '["slots"][0]["count"]'],
      ['"kind":"fix","count":1', '"kind":"fix","count":0.5', '["slots"][2]["count"]'],
      ['"rungs":[0]', '"rungs":[-1]', '["slots"][1]["rungs"][0]'],
      ['"kind":"fix"', '"kind":"tell"', '["slots"][2]["kind"]'],
      ['"verdict":"fix","gaveUp":false', '"verdict":"fix exhausted","gaveUp":false', '["trail"][2]["verdict"]']
    ] as const) {
      assert.include(text, found)
      const error = yield* Effect.flip(Snapshot.fromJson(JSON.parse(text.replace(found, replaced))))
      assert.isTrue(Schema.isSchemaError(error), found)
      assert.include(error.message, said)
    }
  })
)

it.effect("a policy around any effect stores its position in that form, and reads no other version [P1366]", () =>
  Effect.gen(function* () {
    const json = Schema.toCodecJson(Recovery.Position)
    const stored: Array<unknown> = []
    const onWait = (position: Recovery.Position) =>
      Effect.sync(() => void stored.push(JSON.parse(JSON.stringify(Schema.encodeSync(json)(position)))))
    const retry = Recovery.retry({ retries: 2, initialBackoff: "1 second" })
    // a tag that reads like a place in another row
    const tag = '"Busy"/0:retry'
    const table = { Busy: Recovery.ladder(Recovery.retry({ retries: 0 }), retry), orElse: Recovery.when(() => retry) }
    let runs = 0
    const failing = Effect.suspend(() => Effect.fail({ _tag: runs++ === 0 ? "Busy" : tag }))
    const fiber = yield* Effect.forkChild(Effect.exit(failing.pipe(Recovery.onErrorFrom(table, { onWait }))))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(fiber)
    const slot = { count: 0, kind: "retry" }
    const written = stored[1]
    assert.deepStrictEqual(written, {
      version: 2,
      attempts: 2,
      repairs: 0,
      startedAt: 0,
      wakeAt: 2000,
      slots: [
        { row: "Busy", rungs: [], kind: "ladder", count: 1, steps: [] },
        ...[0, 1].map((rung) => ({
          ...slot,
          row: "Busy",
          rungs: [rung],
          steps: [{ at: 0, seen: { _tag: "Busy", message: "" } }]
        })),
        // of options that a handler has chosen, the failures are kept once: with the handler
        { ...slot, kind: "when", row: "orElse", rungs: [], steps: [{ at: 1000, seen: { _tag: tag, message: "" } }] }
      ]
    })
    const read = Schema.decodeUnknownEffect(json)
    assert.deepStrictEqual(Schema.encodeSync(json)(yield* read(written)), written)
    for (const version of [0, 1, "2", undefined]) {
      const error = yield* Effect.flip(read(Object.assign({}, written, { version })))
      assert.include(error.message, 'Expected a position of version 2\n  at ["version"]')
    }
  })
)
