/** Worlds for the reference: the turns of a model are those of the kit, and what their calls do is the world's own. */
import { fromEffect } from "@kintsugi/core/testing/FastCheck"
import * as Arbitrary from "effect/Arbitrary"
import type fc from "fast-check"
import * as Arbitraries from "../../../packages/core/src/testing/Arbitraries.ts"
import type { Call, Failing, World } from "./reference.ts"

const { constantFrom, integer, modelTurns, oneOf } = Arbitraries

const isOr = constantFrom(false, true)
const failure = oneOf<Failing>([10, Arbitrary.Constant("overloaded")], [1, constantFrom("broken", "stopped")])

/** What a sub-agent is told, in one turn. */
const expert = Arbitrary.map(
  modelTurns(Arbitrary.Constant(undefined), { failure, minCalls: 0, maxCalls: 0, maxTurns: 1 }),
  ([turn]) => ({ failures: turn?.failures ?? [], partial: turn?.partial ?? "" })
)

const call: Arbitrary.Arbitrary<Call> = Arbitrary.all({
  tool: constantFrom("look", "look", "look", "pay", "ask", "ask", "order", "order", "consult", "consult", "nope"),
  arguments: oneOf<Call["arguments"]>([8, Arbitrary.Constant("fit")], [1, constantFrom("misfit", "misfit", "no JSON")]),
  does: Arbitrary.array(
    oneOf<Call["does"][number]>(
      [10, constantFrom("works", "is busy", "is busy", "is busy", "is busy")],
      [10, Arbitrary.Constant("is locked")],
      [4, constantFrom("is telling", "is stale", "escalates")],
      [2, constantFrom("raises", "dies")]
    ),
    { maxLength: 3 }
  ),
  isSaid: constantFrom(false, false, true),
  decisions: Arbitrary.array(constantFrom("approve", "approve", "approve", "refuse", "give"), { maxLength: 3 }),
  expert
})

export const world: fc.Arbitrary<World> = fromEffect(
  Arbitrary.all({
    agent: Arbitrary.all({
      maxTurns: constantFrom(8, 8, 1, 2, 3),
      maxToolCalls: constantFrom(20, 20, 20, 1, 3, 5),
      maxTokens: constantFrom(1000, 1000, 1000, 15, 40),
      toolRetries: integer(0, 2),
      modelRetries: integer(0, 2),
      requests: integer(1, 2),
      atLast: constantFrom("tell", "raise"),
      fixes: isOr,
      isStrict: isOr
    }),
    turns: modelTurns(call, { failure, cuts: ["length"], maxTurns: 3 }),
    answers: Arbitrary.array(constantFrom("done", "nonsense", "nonsense", "nonsense"), { minLength: 1, maxLength: 2 }),
    interruptAt: Arbitraries.orAbsent(4, integer(0, 4))
  })
)

/** A world without messages to the run: a run that was not started has no inbox. */
export const silent = (from: World): World => ({
  ...from,
  turns: from.turns.map((turn) => ({ ...turn, calls: turn.calls.map((one) => ({ ...one, isSaid: false })) }))
})
