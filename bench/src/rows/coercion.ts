/**
 * What coercion costs, for ever larger arguments: linear growth means that the time per item stays.
 *
 *   npm run bench -- coercion
 *
 * Medians of several laps, in microseconds per item, beside decoding valid arguments of the same size. Exits with code 1
 * when an item of the largest arguments costs four times as much as one of the smallest.
 */
import { Coercion } from "@kintsugi/core"
import { Result, Schema } from "effect"

const Item = Schema.Struct({
  name: Schema.String,
  size: Schema.Finite,
  note: Schema.optionalKey(Schema.Finite),
  tags: Schema.Array(Schema.String)
})
const decoder = Schema.decodeUnknownResult(Schema.toCodecJson(Schema.Struct({ items: Schema.Array(Item) })), {
  errors: "all",
  onExcessProperty: "error"
})
const decode = (value: Schema.Json) => Result.mapError(decoder(value), ({ issue }) => issue)

const items = (count: number, make: (index: number) => unknown): string =>
  JSON.stringify({ items: Array.from({ length: count }, (_, index) => make(index)) })

const subjects: Record<string, (index: number) => unknown> = {
  valid: (index) => ({ name: "a", size: index, tags: ["x"] }),
  "every step at every item": (index) => ({ name: index, size: String(index), note: "", tags: '["x"]' }),
  "nothing helps": (index) => ({ name: index, size: "many", note: "", tags: '["x"]' })
}

const sizes = [100, 1_000, 10_000]
const laps = 7

const timed = (text: string, count: number): number => {
  const start = performance.now()
  const read = Coercion.parse(text)
  if (Result.isSuccess(read)) Coercion.decode(read.success, decode)
  return ((performance.now() - start) * 1000) / count
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

let isSteep = false
for (const [name, make] of Object.entries(subjects)) {
  const costs = sizes.map((count) => {
    const text = items(count, make)
    for (let warm = 0; warm < 20_000 / count; warm++) timed(text, count)
    return median(Array.from({ length: laps }, () => timed(text, count)))
  })
  if ((costs.at(-1) ?? 0) > 4 * (costs[0] ?? 0)) isSteep = true
  const figures = costs.map((cost, index) => `${sizes[index]} items ${cost.toFixed(1)} µs each`)
  process.stdout.write(`${name.padEnd(28)}${figures.join(", ")}\n`)
}
if (isSteep) process.exitCode = 1
