/** How long an import takes without a bundler, beside an import of what it needs of other packages. */
import { inFolder, install } from "../bundling.ts"
import { type Figure, report } from "../figures.ts"
import { loadedBy, type Program, programs, starts } from "../starting.ts"

const laps = 15

const limits: Partial<Record<Program, number>> = {
  "the root index": 1.2,
  "the OpenAI provider": 1.2,
  "the root index and the OpenAI provider": 1.2
}

await inFolder((folder) => {
  install(folder)
  // the names of the record above
  const names = Object.keys(programs) as ReadonlyArray<Program>
  const all = starts(folder, names, laps)
  const figuresOf = (name: Program): ReadonlyArray<Figure> => {
    const found = all.get(name)
    if (found === undefined) throw new Error(`${name} was not measured`)
    const { floor, program } = found
    const most = limits[name]
    const { foreign, ours } = loadedBy(folder, name)
    return [
      { name, value: program.wall, unit: "ms" },
      { name: `${name}, processor`, value: program.cpu, unit: "ms" },
      {
        name: `${name}, to what it imports of others`,
        value: program.wall / floor.wall,
        unit: "×",
        ...(most && { most })
      },
      { name: `${name}, the same, processor`, value: program.cpu / floor.cpu, unit: "×" },
      { name: `${name}, files of ours`, value: ours.length, unit: "" },
      { name: `${name}, files of others`, value: foreign.length, unit: "" }
    ]
  }
  const wall = (name: Program): number => all.get(name)?.program.wall ?? Number.NaN
  report("the start of a process, unbundled", [
    ...names.flatMap(figuresOf),
    {
      name: "the root index to its subpaths",
      value: wall("the root index") / wall("its subpaths"),
      unit: "×",
      most: 1.1
    }
  ])
  return Promise.resolve()
})
