/** A tracer that keeps its spans, and views on what they tell. */
import { Cause, Effect, Exit, Option, Tracer } from "effect"

export interface Recorder {
  readonly spans: ReadonlyArray<Tracer.NativeSpan>
  readonly tracer: Tracer.Tracer
  readonly provide: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly named: (name: string) => Tracer.NativeSpan
}

export const recorder = (): Recorder => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span(options) {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return {
    spans,
    tracer,
    provide: Effect.provideService(Tracer.Tracer, tracer),
    named: (name) => {
      const found = spans.find((span) => span.name === name)
      if (found === undefined) throw new Error(`no span '${name}' among: ${spans.map((span) => span.name).join(", ")}`)
      return found
    }
  }
}

/** The spans as a tree: one line each, deeper ones further in, in the order of their beginning, with how they ended. */
export const treeOf = (spans: ReadonlyArray<Tracer.NativeSpan>): ReadonlyArray<string> => {
  const children = (parent: string | undefined, indent: string): ReadonlyArray<string> =>
    spans.flatMap((span) =>
      Option.getOrUndefined(span.parent)?.spanId === parent
        ? [`${indent}${span.name}: ${endOf(span)}`, ...children(span.spanId, `${indent}  `)]
        : []
    )
  return children(undefined, "")
}

/** `ok`, `interrupted`, `open`, or the name and the message of what it failed with. */
export const endOf = ({ status }: Tracer.NativeSpan): string => {
  if (status._tag === "Started") return "open"
  if (Exit.isSuccess(status.exit)) return "ok"
  if (Cause.hasInterruptsOnly(status.exit.cause)) return "interrupted"
  return Cause.prettyErrors(status.exit.cause)
    .map(({ message, name }) => `${name} (${message})`)
    .join(", ")
}

/** How long a span took; nothing while it is open. */
export const millisOf = ({ status }: Tracer.NativeSpan): number | undefined =>
  status._tag === "Ended" ? Number(status.endTime - status.startTime) / 1e6 : undefined

/** What was noted in a span, as the name and some attributes of each event. */
export const notesOf = ({ events }: Tracer.NativeSpan, ...keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  events.map(([name, , attributes]) => [name, ...keys.flatMap((key) => attributes[key] ?? [])].join(" "))

/** Everything that spans hold, as one text. */
export const textOf = (spans: ReadonlyArray<Tracer.NativeSpan>): string =>
  spans
    .map((span) =>
      [
        span.name,
        endOf(span),
        JSON.stringify([[...span.attributes], span.events.map(([name, , attributes]) => [name, attributes])])
      ].join(" ")
    )
    .join("\n")
