/** Worlds for the reference. */
import fc from "fast-check"
import type { Asked, Call, World } from "./reference.ts"

/** True once in so many cases. */
const onceIn = (cases: number) => fc.constantFrom(...Array.from({ length: cases }, (_, index) => index === cases - 1))

const asked = {
  overloads: fc.constantFrom(0, 0, 0, 0, 1, 2, 3),
  isHalf: fc.boolean(),
  isBroken: onceIn(30),
  isStopped: onceIn(40)
}
const expert: fc.Arbitrary<Asked> = fc.record(asked)

const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom("look", "look", "look", "pay", "ask", "ask", "order", "order", "consult", "consult", "nope"),
  arguments: fc.oneof(
    { weight: 8, arbitrary: fc.constant("fit" as const) },
    { weight: 1, arbitrary: fc.constantFrom("misfit", "misfit", "no JSON") }
  ),
  does: fc.array(
    fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom("works", "is busy", "is busy", "is busy", "is busy") },
      { weight: 10, arbitrary: fc.constant("is locked" as const) },
      { weight: 4, arbitrary: fc.constantFrom("is telling", "is stale", "escalates") },
      { weight: 2, arbitrary: fc.constantFrom("raises", "dies") }
    ),
    { maxLength: 3 }
  ),
  isSaid: fc.constantFrom(false, false, true),
  decisions: fc.array(fc.constantFrom("approve", "approve", "approve", "refuse", "give"), { maxLength: 3 }),
  expert
})

export const world: fc.Arbitrary<World> = fc.record({
  agent: fc.record({
    maxTurns: fc.constantFrom(8, 8, 1, 2, 3),
    maxToolCalls: fc.constantFrom(20, 20, 20, 1, 3, 5),
    maxTokens: fc.constantFrom(1000, 1000, 1000, 15, 40),
    toolRetries: fc.integer({ min: 0, max: 2 }),
    modelRetries: fc.integer({ min: 0, max: 2 }),
    requests: fc.integer({ min: 1, max: 2 }),
    atLast: fc.constantFrom("tell", "raise"),
    fixes: fc.boolean(),
    isStrict: fc.boolean()
  }),
  turns: fc.array(
    fc.record({
      ...asked,
      text: fc.constantFrom("", "I look."),
      calls: fc.array(call, { minLength: 1, maxLength: 3 }),
      finish: fc.oneof(
        { weight: 5, arbitrary: fc.constant("tool-calls" as const) },
        { weight: 1, arbitrary: fc.constant("length" as const) }
      )
    }),
    { maxLength: 3 }
  ),
  answers: fc.array(fc.constantFrom("done", "nonsense", "nonsense", "nonsense"), { minLength: 1, maxLength: 2 }),
  interruptAt: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 }) }
  )
})

/** A world without messages to the run: a run that was not started has no inbox. */
export const silent = (from: World): World => ({
  ...from,
  turns: from.turns.map((turn) => ({ ...turn, calls: turn.calls.map((one) => ({ ...one, isSaid: false })) }))
})
