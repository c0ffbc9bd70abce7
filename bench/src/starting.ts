/** The cost of an import without a bundler: the files that it loads, and the time over the foreign files alone. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { median } from "./harness.ts"

/** Programs that import the library and do nothing; of each the modules that it imports. */
export const programs = {
  "the root index": ["@kintsugi/core"],
  "its subpaths": ["Agent", "Model", "Recovery", "Skill", "Tool"].map((name) => `@kintsugi/core/${name}`),
  "the OpenAI provider": ["@kintsugi/providers/OpenAi"],
  "the root index and the OpenAI provider": ["@kintsugi/core", "@kintsugi/providers/OpenAi"],
  "a hello agent": ["@kintsugi/core/Agent", "@kintsugi/core/Skill", "@kintsugi/core/Tool", "@kintsugi/providers/OpenAi"]
} as const

export type Program = keyof typeof programs

/** What a program loads. */
export interface Loaded {
  /** Files of ours, from their packages: `@kintsugi/core/dist/index.js`. */
  readonly ours: ReadonlyArray<string>
  /** Files of other packages, in the same way. */
  readonly foreign: ReadonlyArray<string>
  /** What ours import of other packages, as they write it: `effect/Effect`. */
  readonly imported: ReadonlyArray<string>
}

/** Tells of each module that Node resolves who asked for it and where it is. */
const hook = `
import { registerHooks } from "node:module"
import { writeSync } from "node:fs"
registerHooks({
  resolve(specifier, context, next) {
    const { url, ...rest } = next(specifier, context)
    writeSync(1, JSON.stringify([specifier, context.parentURL ?? "", url]) + "\\n")
    return { url, ...rest }
  }
})`

const write = (folder: string, name: string, imports: ReadonlyArray<string>): string => {
  const file = join(folder, name)
  writeFileSync(file, imports.map((path) => `import ${JSON.stringify(path)}\n`).join(""))
  return file
}

/** The package and the path within it. A link is followed, so the folder above may have any name. */
const within = (url: string): string => /^.*\/node_modules\/(.+)$/.exec(url)?.[1] ?? ""

/** Plays a program in a project that has installed the packages, and tells what it loaded. */
export const loadedBy = (folder: string, program: Program): Loaded => {
  const file = write(folder, "traced.mjs", programs[program])
  const script = `data:text/javascript,${encodeURIComponent(hook)}`
  const said = execFileSync(process.execPath, ["--import", script, file], { encoding: "utf8" })
  const resolved = said
    .trim()
    .split("\n")
    // it is what the hook above writes
    .map((line) => JSON.parse(line) as readonly [specifier: string, parent: string, url: string])
  const files = [...new Set(resolved.map(([, , url]) => within(url)))].filter((path) => path !== "")
  const isOurs = (path: string) => path.startsWith("@kintsugi/")
  const imported = resolved
    .filter(([specifier, parent]) => isOurs(within(parent)) && !specifier.startsWith(".") && !isOurs(specifier))
    .map(([specifier]) => specifier)
  return {
    ours: files.filter(isOurs).toSorted(),
    foreign: files.filter((path) => !isOurs(path)).toSorted(),
    imported: [...new Set(imported)].toSorted()
  }
}

/** What processes took over one that imports nothing, in milliseconds: on the clock, and of the processor. */
export interface Start {
  readonly wall: number
  readonly cpu: number
}

/** The start of a program, and that of a file which imports what the program imports of other packages. */
export interface Starts {
  readonly program: Start
  readonly floor: Start
}

/** Of processes, which take turns: their medians, or another figure for all of them. */
export const starts = (
  folder: string,
  names: ReadonlyArray<Program>,
  laps: number,
  figure: (times: ReadonlyArray<number>) => number = median
): ReadonlyMap<Program, Starts> => {
  const empty = write(folder, "empty.mjs", [])
  const files = names.map((name, index) => ({
    name,
    program: write(folder, `program${index}.mjs`, programs[name]),
    floor: write(folder, `floor${index}.mjs`, loadedBy(folder, name).imported)
  }))
  const all = [empty, ...files.flatMap(({ floor, program }) => [program, floor])]
  const times = new Map(all.map((file) => [file, new Array<Start>()]))
  // the first lap fills the caches of the disk
  for (let lap = -1; lap < laps; lap++) {
    for (const file of all) {
      const took = processOf(file)
      if (lap >= 0) times.get(file)?.push(took)
    }
  }
  const typical = (file: string, measure: keyof Start): number =>
    figure((times.get(file) ?? []).map((time) => time[measure]))
  const over = (file: string): Start => ({
    wall: typical(file, "wall") - typical(empty, "wall"),
    cpu: typical(file, "cpu") - typical(empty, "cpu")
  })
  return new Map(files.map(({ floor, name, program }) => [name, { program: over(program), floor: over(floor) }]))
}

/** A whole process that imports a file. */
const processOf = (file: string): Start => {
  const script = `
    await import(${JSON.stringify(pathToFileURL(file).href)})
    const { system, user } = process.cpuUsage()
    console.log((system + user) / 1000)`
  const start = performance.now()
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })
  return { wall: performance.now() - start, cpu: Number(said) }
}
