/** Deferred calls: which settlement counts, against a reference that knows instants and nothing else. */
import { assert } from "@effect/vitest"
import { Recovery, Tool } from "@kintsugi/core"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { calm, callingOnce, read } from "../_support/dialogue.ts"
import { agentWith, deferring } from "../core/tool/_support/deferring.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** What comes for a call, when, and with which of its tokens. */
interface Settlement {
  readonly at: number
  readonly is: "result" | "failure" | "misfit"
  readonly token: "latest" | "first" | "foreign"
}

interface Story {
  readonly retries: number
  /** Between two settlements: none comes at the instant of a deadline. */
  readonly deadline: number
  readonly settlements: ReadonlyArray<Settlement>
}

const story: fc.Arbitrary<Story> = fc.record({
  retries: fc.integer({ min: 0, max: 2 }),
  deadline: fc.integer({ min: 1, max: 60 }).map((millis) => millis + 0.5),
  settlements: fc
    .uniqueArray(
      fc.record({
        at: fc.integer({ min: 1, max: 100 }),
        is: fc.constantFrom("result", "failure", "failure", "misfit"),
        token: fc.constantFrom("latest", "latest", "latest", "first", "foreign")
      }),
      { selector: ({ at }) => at, maxLength: 6 }
    )
    .map((all) => all.toSorted((one, other) => one.at - other.at))
})

/** What each settlement is answered, and how the call ends. */
const foretold = ({ deadline, retries, settlements }: Story) => {
  /** Why the tokens of the attempts so far count no more; `undefined` for the one that waits. */
  const closed: Array<string | undefined> = [undefined]
  const begun = [0]
  let end: string | undefined
  const close = (why: string, after?: string) => {
    closed[closed.length - 1] = why
    end = after
  }
  const answers = settlements.map(({ at, is, token }) => {
    if (end === undefined && at > (begun.at(-1) ?? 0) + deadline) close("late", "told")
    const closedBy = closed.at(token === "first" ? 0 : -1)
    if (token === "foreign") return "unknown-token"
    if (closedBy !== undefined) return closedBy
    if (is === "misfit") return "misfit"
    if (is === "result" || closed.length > retries) close("already-settled", is === "result" ? `${at}` : "told")
    else {
      close("already-settled")
      closed.push(undefined)
      begun.push(at)
    }
    return "counts"
  })
  const cancelled = end === undefined || closed.includes("late") ? [begun.length] : []
  return { answers, begun, cancelled, end: end ?? "told" }
}

const exitOf = ({ at, is }: Settlement): Exit.Exit<unknown, unknown> =>
  is === "misfit"
    ? Exit.succeed({ at: "soon" })
    : is === "result"
      ? Exit.succeed({ at })
      : Exit.fail({ _tag: "Declined", why: "no" })

lawOfRuns(
  "the first settlement of the token that waits counts, within the deadline of its attempt; a failure goes to the rows, and a misfit leaves the call waiting [L912 P1521 P1522 P1525]",
  story,
  (story, run) =>
    Effect.gen(function* () {
      const { begun, cancelled, tokenOf, tool } = deferring({ deadline: story.deadline })
      const agent = agentWith(
        tool.pipe(
          Tool.onError({
            Declined: Recovery.ladder(
              Recovery.retry({ retries: story.retries, initialBackoff: 0 }),
              Recovery.tell(() => "no")
            ),
            ToolTimeoutError: Recovery.tell(() => "no")
          })
        )
      )
      const model = yield* callingOnce("order")
      const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
      yield* calm
      const answers: Array<string> = []
      let now = 0
      for (const one of story.settlements) {
        yield* TestClock.adjust(one.at - now)
        now = one.at
        const token = { latest: tokenOf(begun.length - 1), first: tokenOf(0), foreign: "another" }[one.token]
        const exit = yield* Effect.exit(Tool.settle(token, exitOf(one)))
        if (Exit.isSuccess(exit)) answers.push(exit.value._tag === "Counted" ? "counts" : exit.value.reason)
        else {
          assert.isTrue(Schema.isSchemaError(yield* Effect.flip(exit)))
          answers.push("misfit")
        }
        yield* calm
      }
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      const expected = foretold(story)
      assert.deepStrictEqual(answers, expected.answers)
      assert.deepStrictEqual(
        begun.map(({ at }) => at),
        expected.begun
      )
      assert.strictEqual(new Set(begun.map(({ key }) => key)).size, 1)
      assert.strictEqual(new Set(begun.map(({ token }) => token)).size, begun.length)
      assert.deepStrictEqual(cancelled, expected.cancelled)
      assert.deepStrictEqual(read(model), [expected.end === "told" ? "told: no" : `result: {"at":${expected.end}}`])
    })
)
