/** What is no option of a guardrail is refused where it is given, also without the types. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Recovery, Skill } from "@kintsugi/core"
import { Effect } from "effect"

const pass = () => Agent.guard.pass

const clerk = Agent.make("clerk", {})

/** Without its type, as a program in JavaScript sees it. */
const untyped = <A>(value: unknown): A => value as A

const refused: ReadonlyArray<readonly [given: string, make: () => unknown, RegExp]> = [
  [
    "mode",
    () => Agent.guardInput(clerk, pass, { mode: untyped<"before">("besides") }),
    /^TypeError: Agent\.guardInput: mode must be "beside" or "before", got besides$/
  ],
  [
    "onFailure of an input",
    () => Agent.guardInput(clerk, pass, { onFailure: untyped("allow") }),
    /^TypeError: Agent\.guardInput: onFailure must be "block" or "pass", got allow$/
  ],
  [
    "onFailure of an output",
    () => Agent.guardOutput(clerk, pass, { onFailure: untyped(true) }),
    /^TypeError: Agent\.guardOutput: onFailure must be "block" or "pass", got true$/
  ],
  [
    "each",
    () => Agent.guardOutput(clerk, pass, { each: untyped("yes") }),
    /^TypeError: Agent\.guardOutput: each must be true or false, got yes$/
  ],
  ...[0, -1, 1.5, Number.NaN, Infinity, untyped<number>("some")].map(
    (hold) =>
      [
        `hold ${hold}`,
        () => Agent.guardOutput(clerk, pass, { hold }),
        /^RangeError: Agent\.guardOutput: hold must be "all" or a whole number of at least 1, got /
      ] as const
  ),
  ...[0, -1, Number.NaN, untyped<number>("soon")].map(
    (timeout) =>
      [
        `timeout ${timeout}`,
        () => Agent.guardInput(clerk, pass, { timeout }),
        /^RangeError: Agent\.guardInput: timeout must be a duration above 0, got /
      ] as const
  ),
  [
    "a check",
    () => clerk.pipe(Agent.guardOutput(untyped<never>("no"))),
    /^TypeError: Agent\.guardOutput: check must be a function$/
  ],
  [
    "a side",
    () => Agent.onGuardrail(clerk, untyped<never>({ inputs: Recovery.rethrow })),
    /^TypeError: Agent\.onGuardrail: there is no side 'inputs': its rows are input, output$/
  ],
  [
    "a verdict about an input",
    () => Agent.onGuardrail(clerk, { input: untyped(Recovery.tell()) }),
    /^TypeError: Agent\.onGuardrail: row 'input'.*allowed: respondWith, rethrow$/
  ],
  [
    "a verdict about an output",
    () => Agent.onGuardrail(clerk, { output: untyped(Recovery.raise) }),
    /^TypeError: Agent\.onGuardrail: row 'output'.*allowed: respondWith, rethrow, tell$/
  ],
  ...[null, 5].flatMap((options) => [
    [
      `options ${options} of an input`,
      () => Agent.guardInput(clerk, pass, untyped<undefined>(options)),
      /^TypeError: Agent\.guardInput must be given options, got (null|number)$/
    ] as const,
    [
      `options ${options} of an output`,
      () => Agent.guardOutput(clerk, pass, untyped<undefined>(options)),
      /^TypeError: Agent\.guardOutput must be given options, got (null|number)$/
    ] as const
  ]),
  [
    "rows",
    () => clerk.pipe(Agent.onGuardrail(untyped<never>(undefined))),
    /^TypeError: Agent\.onGuardrail must be given rows, got undefined$/
  ],
  [
    "rows that are null",
    () => Agent.onGuardrail(clerk, untyped<never>(null)),
    /^TypeError: Agent\.onGuardrail must be given rows, got null$/
  ],
  [
    "options of rows",
    () => Agent.onGuardrail(clerk, {}, untyped<undefined>(null)),
    /^TypeError: Agent\.onGuardrail must be given options, got null$/
  ],
  ...[-1, 1.5, Number.NaN].map(
    (retries) =>
      [
        `retries ${retries}`,
        () => Agent.onGuardrail(clerk, {}, { retries }),
        /^RangeError: Agent\.onGuardrail: retries must be a whole number of at least 0, got /
      ] as const
  )
]

describe("an option of a guardrail that is none is refused", () => {
  for (const [given, make, said] of refused) {
    it(`${given} [P1595 P1596 P1597 P1598]`, () => {
      let thrown: unknown
      try {
        make()
      } catch (error) {
        thrown = error
      }
      assert.match(String(thrown), said)
    })
  }
})

it("a function and an agent that is made of others take no guardrails, and it is said which they are [P1378]", () => {
  const plain = Agent.deterministic("shout", (text: string) => Effect.succeed(text))
  const composed = Agent.map(clerk, (text) => text)
  const said = (whose: string, name: string) =>
    new RegExp(`^Agent\\.${whose}: agent '${name}' makes no model calls itself: add guardrails to its parts$`)
  for (const agent of [plain, composed]) {
    const guarded = untyped<typeof clerk>(agent)
    assert.throws(() => Agent.guardInput(guarded, pass), said("guardInput", agent.name))
    assert.throws(() => Agent.guardOutput(guarded, pass), said("guardOutput", agent.name))
    assert.throws(() => Agent.onGuardrail(guarded, { input: Recovery.rethrow }), said("onGuardrail", agent.name))
  }
  // an agent whose skill is a function has a run of its own
  const echo = Skill.deterministic("echo", { description: "Echoes.", run: (text: string) => Effect.succeed(text) })
  assert.strictEqual(Agent.make("echo", { skills: [echo] }).pipe(Agent.guardInput(pass)).name, "echo")
})
