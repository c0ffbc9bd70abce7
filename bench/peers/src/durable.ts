/**
 * Durable steps: attempts of a tool that record 200 bytes, with and without the log of events, beside bare activities of the same engine, and
 * DBOS, on PGlite and on PostgreSQL with its own settings. Each has a process and a database of its own, and they take turns. DBOS needs a
 * server.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Figure, report, times } from "../../src/figures.ts"
import { interleaved, type Sample, type Samples, type Subject, typical } from "../../src/harness.ts"
import { postgres, startPostgres } from "../../../tools/durable-lab/src/postgres.ts"
import type { Order, Sizes } from "../../../tools/durable-lab/src/recorded.ts"

const engine = fileURLToPath(new URL("../../../tools/durable-lab/src/processes/steps.ts", import.meta.url))
const dbos = fileURLToPath(new URL("dbos.ts", import.meta.url))

interface Recorder {
  readonly name: string
  readonly script: string
  /** Its name, if the script has several. */
  readonly parameters: ReadonlyArray<string>
}

const onEngine: ReadonlyArray<Recorder> = [
  { name: "ours", script: engine, parameters: ["ours"] },
  { name: "ours without events", script: engine, parameters: ["quiet"] },
  { name: "bare workflow", script: engine, parameters: ["bare"] }
]

/** How many runs at once, and the steps of each. */
const shapes = { "one run": { runs: 1, steps: 100 }, "10 runs at once": { runs: 10, steps: 20 } } as const
const shapeNames = ["one run", "10 runs at once"] as const

const ask = async <A>(child: ChildProcess, message: Order | "sizes" | undefined): Promise<A> => {
  const stop = new AbortController()
  const died = once(child, "exit", { signal: stop.signal }).then(([code, signal]) => {
    throw new Error(`a recorder has ended with ${signal ?? code}`)
  })
  // it loses the race, as a rule
  died.catch(() => {})
  const answer = once(child, "message", { signal: stop.signal })
  if (message !== undefined) child.send(message)
  try {
    return (await Promise.race([answer, died]))[0]
  } finally {
    stop.abort()
  }
}

const measure = async (where: string, recorders: ReadonlyArray<Recorder>, databaseOf: (index: number) => string) => {
  const children = recorders.map(({ parameters, script }, index) =>
    fork(script, [...parameters, databaseOf(index)], { execArgv: ["--disable-warning=ExperimentalWarning"] })
  )
  try {
    await Promise.all(children.map((child) => ask(child, undefined)))
    let orders = 0
    const subjects = recorders.flatMap(({ name }, index) =>
      shapeNames.map((shape): Subject => {
        const child = children[index]
        if (child === undefined) throw new TypeError("a process for each")
        return {
          name: `${name}, ${shape}`,
          portion: () => ask<Sample>(child, { prefix: `order-${++orders}`, ...shapes[shape] })
        }
      })
    )
    const samples = await interleaved(subjects, { laps: 5, warmups: 1 })
    const sizes = await Promise.all(children.map((child) => sizesOf(child, `size-${++orders}`)))
    report(`durable steps on ${where}`, figuresOf(recorders, samples, sizes))
  } finally {
    const ended = children.map((child) => (child.exitCode === null ? once(child, "exit") : undefined))
    for (const child of children) child.kill("SIGKILL")
    await Promise.all(ended)
  }
}

/** Bytes of a step: of 5 runs with 100 steps, in tables that have rows already. */
const sizesOf = async (child: ChildProcess, prefix: string): Promise<Sizes> => {
  const order = { prefix, runs: 5, steps: 100 }
  const before = await ask<Sizes>(child, "sizes")
  await ask(child, order)
  const after = await ask<Sizes>(child, "sizes")
  const count = order.runs * order.steps
  const each = (of: keyof Sizes) => (after[of] - before[of]) / count
  return { steps: each("steps"), text: each("text"), disk: each("disk") }
}

const figuresOf = (
  recorders: ReadonlyArray<Recorder>,
  samples: Samples,
  sizes: ReadonlyArray<Sizes>
): ReadonlyArray<Figure> => [
  ...shapeNames.flatMap((shape) => {
    const count = shapes[shape].runs * shapes[shape].steps
    const own = `ours, ${shape}`
    return [
      ...recorders.flatMap(({ name }): ReadonlyArray<Figure> => [
        {
          name: `${name}, ${shape}, steps per second`,
          value: (count / typical(samples, `${name}, ${shape}`)) * 1000,
          unit: "/s"
        },
        {
          name: `${name}, ${shape}, processor`,
          value: typical(samples, `${name}, ${shape}`, "cpu") / count,
          unit: "ms"
        }
      ]),
      ...recorders.slice(1).map(({ name }) => times(`ours to ${name}, ${shape}`, samples, [own, `${name}, ${shape}`]))
    ]
  }),
  ...recorders.flatMap(({ name }, index): ReadonlyArray<Figure> => [
    { name: `${name}, the rows of a step, as text`, value: sizes[index]?.steps ?? Number.NaN, unit: "B" },
    { name: `${name}, all rows of a run, for each step`, value: sizes[index]?.text ?? Number.NaN, unit: "B" },
    { name: `${name}, the same on disk, with indexes`, value: sizes[index]?.disk ?? Number.NaN, unit: "B" }
  ])
]

const temporary = mkdtempSync(join(tmpdir(), "kintsugi-steps-"))
process.once("exit", () => rmSync(temporary, { recursive: true, force: true }))
// the processes of databases and recorders end with this one
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
await measure("PGlite", onEngine, (index) => join(temporary, `${index}`))

const found = postgres.find()
if (found === undefined) process.stdout.write("PostgreSQL is not here: npm run setup-system installs it where it can\n")
else {
  const server = await startPostgres(found, [])
  try {
    const recorders = [...onEngine, { name: "DBOS", script: dbos, parameters: [] }]
    const address = ["-h", "127.0.0.1", "-p", `${server.port}`, "-U", "postgres"]
    for (const index of recorders.keys()) execFileSync(join(dirname(found), "createdb"), [...address, `steps${index}`])
    await measure("PostgreSQL", recorders, (index) => `postgres://postgres@127.0.0.1:${server.port}/steps${index}`)
  } finally {
    await server.stop()
  }
}
