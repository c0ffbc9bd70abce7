/** The policies, as data: the public words of the library, each alone, and all of them together. */
import { Agent, Coercion, Compaction, type Model, Recovery } from "@kintsugi/core"
import { type Effect, Schedule } from "effect"
import type { Desk } from "./desk.ts"
import { mender, tidy } from "./fixers.ts"

/** A desk that is ready to be asked. Any failure of it is a run that was not healed. */
export interface Guarded {
  (asked: string): Effect.Effect<string, unknown, Model.Model>
}

/** One way to recover. */
export interface Policy {
  readonly name: string
  readonly says: string
  /** What the tools do about arguments that are almost right, before anybody is asked. */
  readonly coercion: ReadonlyArray<Coercion.CoercionStep>
  readonly guard: (desk: Desk) => Guarded
}

/** Everything ends the run. Tables that follow take rows away from it. */
const nothing = { orElse: Recovery.rethrow, UnknownToolError: Recovery.raise }

const thrice = Recovery.retry(Schedule.max([Schedule.exponential("1 second"), Schedule.recurs(3)]))

/** What the layered ones have in common. */
const rows = {
  NoSuchCity: Recovery.tell(),
  Gone: Recovery.tell(),
  orElse: Recovery.ladder(thrice, Recovery.tell())
}

const modelRows = {
  ContextTooLongError: Recovery.compact(Compaction.shrinkLargestResult({ maxLength: 2000 })),
  orElse: thrice
}

const vaguely = Recovery.tell(() => "The call failed.")

/** The first of them is what every other one is measured beside. */
export const policies: ReadonlyArray<Policy> = [
  {
    name: "none",
    says: "the first failure ends the run",
    coercion: [],
    guard: (desk) => desk.pipe(Agent.toolDefaults(nothing), Agent.outputRetries(0))
  },
  {
    name: "as-it-comes",
    says: "an agent without any table: coercion, names of tools told, one more answer",
    coercion: Coercion.steps,
    guard: (desk) => desk
  },
  {
    name: "coercion",
    says: "arguments that are almost right are coerced; nothing else",
    coercion: Coercion.steps,
    guard: (desk) => desk.pipe(Agent.toolDefaults(nothing), Agent.outputRetries(0))
  },
  {
    name: "tell-vaguely",
    says: "`tell` with the same few words for every failure",
    coercion: [],
    guard: (desk) =>
      desk.pipe(Agent.toolDefaults({ orElse: vaguely, UnknownToolError: vaguely }), Agent.outputRetries(0))
  },
  {
    name: "tell",
    says: "`Recovery.presets.tellAll()`: the model reads each failure; one more answer",
    coercion: [],
    guard: (desk) => desk.pipe(Agent.toolDefaults(Recovery.presets.tellAll()), Agent.outputRetries(1))
  },
  {
    name: "kani",
    says: "`Recovery.presets.tellThenToolsOff()`, with coercion",
    coercion: Coercion.steps,
    guard: (desk) => desk.pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))
  },
  {
    name: "tell-model",
    says: "`Recovery.presets.tellWithTries()`, with coercion",
    coercion: Coercion.steps,
    guard: (desk) => desk.pipe(Agent.toolDefaults(Recovery.presets.tellWithTries()))
  },
  {
    name: "agents-kt",
    says: "`Recovery.presets.raiseAll()`, with coercion",
    coercion: Coercion.steps,
    guard: (desk) => desk.pipe(Agent.toolDefaults(Recovery.presets.raiseAll()))
  },
  {
    name: "escalate",
    says: "`escalate`: the model reads each failure and that it should correct its call",
    coercion: [],
    guard: (desk) =>
      desk.pipe(
        Agent.toolDefaults({ orElse: Recovery.escalate(), UnknownToolError: Recovery.escalate() }),
        Agent.outputRetries(0)
      )
  },
  {
    name: "fix-function",
    says: "`fix` with a function that knows these tools",
    coercion: [],
    guard: (desk) =>
      desk.pipe(Agent.toolDefaults({ ...nothing, InvalidArgs: Recovery.fix(tidy) }), Agent.outputRetries(0))
  },
  {
    name: "fix-agent",
    says: "`fix` with an agent that asks the model, at most twice",
    coercion: [],
    guard: (desk) =>
      desk.pipe(
        Agent.toolDefaults({
          ...nothing,
          InvalidArgs: Recovery.fix(mender, { retries: 2 }),
          NoSuchCity: Recovery.fix(mender, { retries: 2 })
        }),
        Agent.outputRetries(0)
      )
  },
  {
    name: "retry",
    says: "`retry` of failed tools and model calls: three more times, after 1, 2 and 4 seconds",
    coercion: [],
    guard: (desk) =>
      desk.pipe(
        Agent.toolDefaults({ orElse: thrice, InvalidArgs: Recovery.rethrow, UnknownToolError: Recovery.raise }),
        Agent.onLlmError({ orElse: thrice }),
        Agent.outputRetries(0)
      )
  },
  {
    name: "layered",
    says: "coercion, then the function, then escalate; retries, then tell; retries and compaction for the model",
    coercion: Coercion.steps,
    guard: (desk) =>
      desk.pipe(
        Agent.toolDefaults({ ...rows, InvalidArgs: Recovery.ladder(Recovery.fix(tidy), Recovery.escalate()) }),
        Agent.onLlmError(modelRows),
        Agent.outputRetries(2)
      )
  },
  {
    name: "layered-agent",
    says: "as `layered`, with the agent as a second fixer before anything is escalated",
    coercion: Coercion.steps,
    guard: (desk) =>
      desk.pipe(
        Agent.toolDefaults({
          ...rows,
          InvalidArgs: Recovery.ladder(Recovery.fix(tidy), Recovery.fix(mender), Recovery.escalate())
        }),
        Agent.onLlmError(modelRows),
        Agent.outputRetries(2)
      )
  },
  {
    name: "resilient",
    says: "`Agent.resilient()`: what may pass is repeated, everything else is told; it knows none of the tools",
    coercion: Coercion.steps,
    guard: (desk) => desk.pipe(Agent.resilient())
  }
]
