/** Deferred calls whose settlements another process has: what it is asked, and what its answers mean. */
import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, Tool } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit } from "effect"
import { batch, done, interruptedAt, read } from "../../_support/dialogue.ts"
import { it, type Runner } from "../../_support/run.ts"
import { outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { agentWith, Declined, deferring } from "./_support/deferring.ts"

type Outside = NonNullable<Interception.Interceptor["deferring"]>
type Ending = Effect.Success<ReturnType<Outside["wait"]>>

const { make, text } = ScriptedModel

/** Another process whose n-th answers are these, and what it was asked. */
const outside = (answers: {
  readonly waits?: ReadonlyArray<Ending>
  readonly looks?: ReadonlyArray<Ending | "late">
}) => {
  const asked: Array<string> = []
  const { looks = [], waits = [] } = answers
  const count = (what: string) => asked.filter((one) => one.startsWith(what)).length
  const note = (what: string) => Effect.sync(() => void asked.push(what))
  const deferred: Outside = {
    store: "outside",
    wait: ({ handle, since }) =>
      Effect.suspend(() => {
        const at = count("wait")
        if (at >= waits.length) return Effect.die(new Error(`there is no answer to wait ${at + 1}`))
        return Effect.as(
          note(`wait for ${JSON.stringify(handle)}${since === undefined ? "" : ` since ${since}`}`),
          waits[at]
        )
      }),
    begun: ({ tool }) => note(`begun ${tool}`),
    look: (calls) =>
      Effect.suspend(() => {
        const at = count("look")
        const found = looks[at]
        return Effect.as(
          note(`look at ${calls.length}`),
          calls.map(() => (found === "withdrawn" ? undefined : found))
        )
      }),
    close: () => note("close")
  }
  const interceptor: Interception.Interceptor = { intercept: (_, self) => self, deferring: deferred }
  return { asked, provided: Effect.provideService(Interception.Current, interceptor) }
}

const telling = <T extends ReturnType<typeof deferring>["tool"]>(tool: T) =>
  tool.pipe(
    Tool.onError({
      Declined: Recovery.tell(({ why }: Declined) => `declined: ${why}`),
      ToolTimeoutError: Recovery.tell(() => "it was late")
    })
  )

const endings: ReadonlyArray<readonly [what: string, ending: Ending, read: string, cancelled: ReadonlyArray<number>]> =
  [
    ["a result", Exit.succeed({ at: 5 }), 'result: {"at":5}', []],
    ["a failure", Exit.fail(new Declined({ why: "no" })), "told: declined: no", []],
    ["the deadline", undefined, "told: it was late", [1]]
  ]

for (const [what, ending, expected, stopped] of endings)
  it.run(`${what} ends the wait of a call, and nothing waits in this process [P1523 P1525]`, (run) =>
    Effect.gen(function* () {
      const { asked, provided } = outside({ waits: [ending] })
      const { cancelled, tool } = deferring()
      const model = yield* make(batch("order"), done)
      // nothing moves the clock
      yield* run(agentWith(telling(tool)), "go").pipe(Effect.provide(model.layer), provided)
      assert.deepStrictEqual(read(model), [expected])
      assert.deepStrictEqual(cancelled, stopped)
      // at the deadline, the other process takes no settlement any more by itself
      assert.deepStrictEqual(
        asked.filter((one) => one !== "close"),
        ['wait for {"job":1}']
      )
      if (ending !== undefined) assert.notInclude(asked, "close")
    })
  )

/** What the model reads of a call whose run goes on. */
const lateIn = (
  run: Runner,
  answers: Parameters<typeof outside>[0],
  ...before: ReadonlyArray<ScriptedModel.ScriptedStep>
) =>
  Effect.gen(function* () {
    const { asked, provided } = outside(answers)
    const { cancelled, tool } = deferring({ wait: "continue" })
    const model = yield* make(batch("order"), ...before, done)
    const agent = agentWith(telling(tool))
    const output = yield* run(agent, "go").pipe(Effect.provide(model.layer), provided)
    const said = (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
      message.role === "user" ? [Message.textOf(message)] : []
    )
    return { asked, cancelled, output, said: said.slice(1) }
  })

it.run("a run with an answer waits for the settlement in the other process [P1524]", (run) =>
  Effect.gen(function* () {
    const { asked, output, said } = yield* lateIn(run, { waits: [Exit.succeed({ at: 7 })] }, text("so far"))
    assert.strictEqual(output, "done")
    assert.lengthOf(said, 1)
    assert.include(said[0], 'Its result: <data>{"at":7}</data>')
    assert.strictEqual(asked[0], "begun order")
    assert.deepStrictEqual(
      asked.filter((one) => one.startsWith("wait")),
      ['wait for {"job":1} since 0']
    )
  })
)

it.run("what it finds at a safe point is read there, and a call that is late there has its end [P1524 P1525]", (run) =>
  Effect.gen(function* () {
    const found = yield* lateIn(run, { looks: [Exit.succeed({ at: 8 })] })
    assert.include(found.said[0], 'Its result: <data>{"at":8}</data>')
    assert.deepStrictEqual(found.cancelled, [])
    const late = yield* lateIn(run, { waits: [undefined] }, text("so far"))
    assert.include(late.said[0], "it was late")
    assert.deepStrictEqual(late.cancelled, [1])
  })
)

it.effect("a settlement with which a run goes on counts, and the other process is not asked [P1521 P1528]", () =>
  Effect.gen(function* () {
    const { asked, provided } = outside({})
    const { tokenOf, tool } = deferring()
    const model = yield* make(batch("order"), done)
    const from = yield* snapshotOf(yield* outcomeOf(agentWith(tool), "go", model))
    const settlements = [{ token: tokenOf(), exit: Exit.succeed({ at: 9 }) }]
    const resumed = Agent.resume(agentWith(tool))({ from, settlements })
    assert.strictEqual(yield* resumed.pipe(Effect.provide(model.layer), provided), "done")
    assert.deepStrictEqual(read(model), ['result: {"at":9}'])
    assert.deepStrictEqual(asked, [])
  })
)

it.run("a run that is interrupted closes its call there, and cancels the work [P1526]", (run) =>
  Effect.gen(function* () {
    const { asked, provided } = outside({})
    const { cancelled, tool } = deferring()
    const model = yield* make(batch("order"))
    const hanging = Effect.updateService(Interception.Current, (interceptor) =>
      interceptor?.deferring === undefined
        ? interceptor
        : { ...interceptor, deferring: { ...interceptor.deferring, wait: () => Effect.never } }
    )
    yield* interruptedAt(5, run(agentWith(telling(tool)), "go").pipe(Effect.provide(model.layer), hanging, provided))
    assert.deepStrictEqual(asked, ["close"])
    assert.deepStrictEqual(cancelled, [1])
  })
)
