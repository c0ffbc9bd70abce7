import type { Metric } from "effect"

/** What was counted, as `name {labels}: count sum`, in any order. */
export const linesOf = (snapshot: ReadonlyArray<Metric.Metric.Snapshot>): ReadonlyArray<string> =>
  snapshot
    .flatMap((metric) => {
      const labels = Object.entries({ ...metric.attributes }).map(([key, value]) => `${key}=${value}`)
      const name = `${metric.id} {${labels.toSorted().join(", ")}}`
      if (metric.type === "Counter") return [`${name}: ${metric.state.count}`]
      return metric.type === "Histogram" ? [`${name}: ${metric.state.count} ${metric.state.sum}`] : []
    })
    .toSorted()
