/** Every event of a program under test, in order, to be looked at afterwards. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AgentEvent from "../event/AgentEvent.ts"
import * as RunContext from "../event/RunContext.ts"

/** The events of a program, in order. */
export interface RecordedEvents {
  /** So far; it grows. */
  readonly all: ReadonlyArray<AgentEvent.AgentEvent>
  /** Those of one type. */
  readonly of: <const Type extends AgentEvent.AgentEvent["type"]>(type: Type) => ReadonlyArray<AgentEvent.OfType<Type>>
  readonly types: () => ReadonlyArray<AgentEvent.AgentEvent["type"]>
  /** The event that ended the outermost run, if it has ended. */
  readonly end: () => AgentEvent.AgentEvent | undefined
  /** Records all runs of the program that it is provided to, at the very moment at which something happens. */
  readonly layer: Layer.Layer<never>
  /** For `Agent.onEvent`: records the events of one agent. */
  readonly hear: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
}

/** An empty record. */
export const makeUnsafe = (): RecordedEvents => {
  const all: Array<AgentEvent.AgentEvent> = []
  const record = (event: AgentEvent.AgentEvent): void => {
    all.push(event)
  }
  return {
    all,
    of: <const Type extends AgentEvent.AgentEvent["type"]>(type: Type) =>
      all.filter((event): event is AgentEvent.OfType<Type> => event.type === type),
    types: () => all.map(({ type }) => type),
    end: () => all.findLast((event) => event.parent === undefined && AgentEvent.isTerminal(event)),
    layer: Layer.effect(
      RunContext.Observers,
      Effect.map(RunContext.Observers, (others) => [...others, () => record])
    ),
    hear: (event) => Effect.sync(() => record(event))
  }
}

/** As `makeUnsafe`, as an effect. */
export const make: Effect.Effect<RecordedEvents> = Effect.sync(makeUnsafe)

/** One line: the instant, the agent and its turn, what happened, and to which call. */
export const format = (event: AgentEvent.AgentEvent): string =>
  [`${event.at} ms`, event.agent, `turn ${event.turn}`, event.type, ...("callId" in event ? [event.callId] : [])].join(
    "  "
  )
