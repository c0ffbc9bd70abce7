/** A tracer that counts the spans that have begun and not ended. */
import { Tracer } from "effect"

export const counting = () => {
  let count = 0
  const tracer = Tracer.make({
    span(options) {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      count++
      span.end = (time, exit) => {
        if (span.status._tag === "Started") count--
        end(time, exit)
      }
      return span
    }
  })
  return { tracer, count: () => count }
}
