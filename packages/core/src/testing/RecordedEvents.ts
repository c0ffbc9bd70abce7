/** Records the events of a program under test. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AgentEvent from "../event/AgentEvent.ts"
import * as RunContext from "../event/RunContext.ts"

/** The recorded events of a program, in order. */
export interface RecordedEvents {
  /** Every event so far. */
  readonly all: ReadonlyArray<AgentEvent.AgentEvent>
  /** The events of one type. */
  readonly of: <const Type extends AgentEvent.AgentEvent["type"]>(type: Type) => ReadonlyArray<AgentEvent.OfType<Type>>
  /** The types of all events, in order. */
  readonly types: () => ReadonlyArray<AgentEvent.AgentEvent["type"]>
  /** The terminal event of the outermost run; `undefined` while that run is running. */
  readonly end: () => AgentEvent.AgentEvent | undefined
  /** Records all runs of the program under this layer, each event at the moment at which the run emits it. */
  readonly layer: Layer.Layer<never>
  /** For `Agent.onEvent`: records the events of one agent. */
  readonly listener: (event: AgentEvent.AgentEvent) => Effect.Effect<void>
}

/** Makes an empty record outside of an effect. Each call makes another one. */
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
    listener: (event) => Effect.sync(() => record(event))
  }
}

/** An effect that makes an empty record. */
export const make: Effect.Effect<RecordedEvents> = Effect.sync(makeUnsafe)

/** An event as one line of text. It has the instant, the agent, its turn, the type, and the id of the tool call. */
export const format = (event: AgentEvent.AgentEvent): string =>
  [`${event.at} ms`, event.agent, `turn ${event.turn}`, event.type, ...("callId" in event ? [event.callId] : [])].join(
    "  "
  )
