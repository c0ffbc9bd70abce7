/** Runs each test of a run twice: as `agent(input)`, and as the fold of `agent.stream(input)`. */
import { it as effectIt } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import { Effect, type Scope, Stream } from "effect"

/** Any agent, seen as what a test needs of it. */
export interface Runnable<I, O, E, R> {
  (input: I): Effect.Effect<O, E, R>
  readonly stream: (input: I) => Stream.Stream<AgentEvent.AgentEvent, E, R>
}

/** One way to run an agent. */
export interface Runner {
  readonly isStreamed: boolean
  <I, O, E, R>(agent: Runnable<I, O, E, R>, input: I): Effect.Effect<O, E, R>
}

const whole: Runner = Object.assign(<I, O, E, R>(agent: Runnable<I, O, E, R>, input: I) => agent(input), {
  isStreamed: false
})

const streamed: Runner = Object.assign(
  <I, O, E, R>(agent: Runnable<I, O, E, R>, input: I): Effect.Effect<O, E, R> =>
    Effect.flatMap(Stream.runCollect(agent.stream(input)), (events) => {
      const end = events.at(-1)
      return end?.type === "run-completed"
        ? // the output of this very agent
          Effect.succeed(end.output as O)
        : Effect.die(new Error(`a stream that succeeds must end with run-completed, not ${end?.type}`))
    }),
  { isStreamed: true }
)

/** Both ways, under the names that titles give them. */
export const runners: Readonly<Record<"whole" | "streamed", Runner>> = { whole, streamed }

const run = <E>(name: string, body: (run: Runner) => Effect.Effect<void, E, Scope.Scope>): void => {
  for (const [way, runner] of Object.entries(runners)) effectIt.effect(`${name} (${way})`, () => body(runner))
}

export const it: typeof effectIt & { readonly run: typeof run } = Object.assign(effectIt, { run })
