/** A person as a rung of a table: what the person decides about each failure, against a reference. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Schema } from "effect"
import fc from "fast-check"
import { agentWith, done, eventLog, read } from "../_support/dialogue.ts"
import { law } from "../_support/laws.ts"
import { runners } from "../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../_support/suspension.ts"
import { lawOfRuns, ofRuns } from "./_support/runs.ts"

class Locked extends Data.TaggedError("Locked")<{ readonly message: string }> {}

/** What a person may answer; the last two fit neither the parameters nor the result of the tool. */
type Answer = "approve" | "other arguments" | "result" | "refuse" | "bad arguments" | "bad result"

interface Story {
  readonly failures: number
  readonly retries: number
  readonly times: number
  readonly answers: ReadonlyArray<Answer>
}

const story: fc.Arbitrary<Story> = fc.record({
  failures: fc.integer({ min: 0, max: 7 }),
  retries: fc.integer({ min: 0, max: 2 }),
  times: fc.integer({ min: 1, max: 3 }),
  answers: fc.array(
    fc.constantFrom<Answer>("approve", "approve", "other arguments", "result", "refuse", "bad arguments", "bad result"),
    { minLength: 7, maxLength: 7 }
  )
})

const decisions: { readonly [A in Answer]: Approval.Decision } = {
  approve: Approval.approve,
  "other arguments": Approval.approveWith({ code: 9 }),
  result: Approval.result("by hand"),
  refuse: Approval.refuse("it is night"),
  "bad arguments": Approval.approveWith({ code: "x" }),
  "bad result": Approval.result(7)
}

/** The codes with which the tool runs, how often a person is asked, and what becomes of the call. */
const foretold = ({ answers, failures, retries, times }: Story) => {
  const runs = [1]
  let asked = 0
  let retried = 0
  let code = 1
  while (runs.length <= failures) {
    if (retried++ < retries) {
      runs.push(code)
      continue
    }
    let answer: Answer
    // what does not fit is asked for again, and counts as a request
    do {
      if (asked === times) return { runs, asked, end: "told: locked" }
      answer = answers[asked++] ?? "refuse"
    } while (answer.startsWith("bad"))
    if (answer === "refuse") return { runs, asked, end: "denied" }
    if (answer === "result") return { runs, asked, end: "result: by hand" }
    if (answer === "other arguments") code = 9
    runs.push(code)
  }
  return { runs, asked, end: "result: free" }
}

/** The tool of a story, with what it was run with. */
const opening = ({ failures, retries, times }: Story) => {
  const runs: Array<number> = []
  const keys = new Set<string>()
  const tool = Tool.make("open", {
    description: "Opens.",
    parameters: Schema.Struct({ code: Schema.Int }),
    success: Schema.String,
    coercion: [],
    run: ({ code }, { idempotencyKey }) =>
      Effect.suspend(() => {
        keys.add(idempotencyKey)
        return runs.push(code) <= failures ? Effect.fail(new Locked({ message: "locked" })) : Effect.succeed("free")
      })
  }).pipe(
    Tool.onError({
      Locked: Recovery.ladder(
        Recovery.retry({ retries, initialBackoff: 0 }),
        Recovery.ask({ times }),
        Recovery.tell(({ message }) => message)
      )
    })
  )
  return { keys, runs, tool }
}

const { call, calls, make } = ScriptedModel
const script = make(calls(call("open", { code: 1 }, "c1")), done)

/** Compares what was seen of a story with what was foretold. */
const agrees = (
  story: Story,
  seen: { readonly runs: ReadonlyArray<number>; readonly asked: number; readonly end: string; readonly keys: number }
) => {
  const { end, ...expected } = foretold(story)
  const came = end === "denied" ? (seen.end.split(":")[0] ?? "") : seen.end
  assert.deepStrictEqual({ ...seen, end: came }, { ...expected, end, keys: 1 })
}

lawOfRuns(
  "a person decides about each failure that the rungs before leave: approving runs the tool, and the rung behind decides after as many requests as the row says [L913 P1510 P1511 P1513]",
  story,
  (story, run) =>
    Effect.gen(function* () {
      const { keys, runs, tool } = opening(story)
      let asked = 0
      const approver = Approval.layer(() => Effect.sync(() => decisions[story.answers[asked++] ?? "refuse"]))
      const log = eventLog()
      const model = yield* script
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide([approver, model.layer]))
      agrees(story, { runs, asked, end: read(model)[0] ?? "", keys: keys.size })
      assert.strictEqual(log.of("approval-requested").length, asked)
      assert.strictEqual(log.of("approval-decided").length, asked)
    })
)

law(
  "a run that is suspended at each request to a person goes on from JSON with the counts of all rungs: the same runs, the same requests, the same end [L1013 P1365 P1514]",
  story,
  (story) =>
    ofRuns(
      () =>
        Effect.gen(function* () {
          const { keys, runs, tool } = opening(story)
          const agent = agentWith(tool)
          const model = yield* script
          let asked = 0
          let outcome: Agent.Outcome<unknown> = yield* outcomeOf(agent, "go", model)
          while (outcome._tag === "Suspended") {
            const from = yield* snapshotOf(outcome)
            const given = deciding(from, decisions[story.answers[asked++] ?? "refuse"])
            assert.lengthOf(given.decisions, 1)
            outcome = yield* outcomeOf(Agent.resume(agent), given, model)
          }
          agrees(story, { runs, asked, end: read(model)[0] ?? "", keys: keys.size })
        }),
      runners.whole
    )(undefined)
)
