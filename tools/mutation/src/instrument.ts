/** Puts all mutants of the sources into them, each behind a switch, with Stryker's instrumenter. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { type File, root } from "../../../scripts/files.ts"
import { cache, type Mutant } from "./protocol.ts"

// What we use of the instrumenter, which is not there where types are checked.

interface Position {
  readonly line: number
  readonly column: number
}

interface ApiMutant {
  readonly id: string
  readonly fileName: string
  readonly location: { readonly start: Position; readonly end: Position }
  readonly mutatorName: string
  readonly replacement: string
}

interface NodePath {
  readonly key: unknown
  readonly node: { readonly type: string; readonly name?: string }
  readonly parent: { readonly type: string } | undefined
}

interface Mutator {
  readonly name: string
  readonly mutate: (path: NodePath) => Iterable<unknown>
}

interface Instrumenter {
  instrument(
    files: ReadonlyArray<{ readonly name: string; readonly content: string; readonly mutate: true }>,
    options: {
      readonly plugins: null
      readonly excludedMutations: ReadonlyArray<string>
      readonly ignorers: ReadonlyArray<unknown>
    }
  ): Promise<{
    readonly files: ReadonlyArray<{ readonly name: string; readonly content: string }>
    readonly mutants: ReadonlyArray<ApiMutant>
  }>
}

type Transform = (ast: unknown, collector: unknown, context: unknown, mutators?: ReadonlyArray<Mutator>) => void

const library = join(root, "tools/mutation/node_modules/@stryker-mutator/instrumenter/dist/src")
const load = (path: string) => import(pathToFileURL(join(library, path)).href)

/**
 * Stryker replaces a whole arrow function by `() => undefined`. At the top of a module that is a change for good, which needs the
 * module to be loaded anew; to replace what the function gives is the same, and can be switched on and off.
 */
const arrowFunction: Mutator = {
  name: "ArrowFunction",
  *mutate({ key, node, parent }) {
    const isBody = parent?.type === "ArrowFunctionExpression" && key === "body"
    if (isBody && node.type !== "BlockStatement" && node.name !== "undefined") {
      yield { type: "Identifier", name: "undefined" }
    }
  }
}

const oneLine = (code: string) => code.replaceAll(/\s+/g, " ").trim()

const between = (lines: ReadonlyArray<string>, { end, start }: ApiMutant["location"]): string =>
  start.line === end.line
    ? (lines[start.line] ?? "").slice(start.column, end.column)
    : [
        (lines[start.line] ?? "").slice(start.column),
        ...lines.slice(start.line + 1, end.line),
        (lines[end.line] ?? "").slice(0, end.column)
      ].join("\n")

/** What a mutant is known by, wherever its line has moved. */
export const identity = (mutant: Omit<Mutant, "id" | "nth" | "line">): string =>
  JSON.stringify([mutant.file, mutant.text, mutant.mutator, mutant.from, mutant.to])

const silent = () => {}
const logger = { debug: silent, info: silent, warn: silent, isDebugEnabled: () => false }

/** A mutant among those of all files. */
export const keyOf = (mutant: Mutant): string => `${identity(mutant)}#${mutant.nth}`

/**
 * Stryker's counter of what is come by makes an object per test. A list of numbers is faster, and where nothing is counted tests should
 * not pay for it.
 */
const counter = `function stryCov_9fa48() {
  const { hits } = stryNS_9fa48();
  stryCov_9fa48 = hits === undefined ? () => {} : (...ids) => { for (const id of ids) hits[id] += 1; };
  stryCov_9fa48(...arguments);
}
`

const counted = (content: string): string => {
  const own = /^function stryCov_9fa48\(\) \{[\s\S]*?^\}\n/m
  if (content.includes("stryCov_") && !own.test(content)) throw new Error("the instrumenter counts in another way")
  return content.replace(own, () => counter)
}

/** A mutant with the place that it takes, counted as Stryker does from 0. */
export interface Placed {
  readonly mutant: Mutant
  readonly location: ApiMutant["location"]
  readonly replacement: string
}

/** Writes the instrumented files to the cache, in the stead of those before, and gives the mutants in them. */
export const instrument = async (sources: ReadonlyArray<File>): Promise<ReadonlyArray<Placed>> => {
  const { Instrumenter } = await load("index.js")
  const { createParser } = await load("parsers/index.js")
  const { print } = await load("printers/index.js")
  const { transformBabel }: { transformBabel: Transform } = await load("transformers/babel-transformer.js")
  const { allMutators }: { allMutators: ReadonlyArray<Mutator> } = await load("mutators/index.js")
  const mutators = allMutators.map((mutator) => (mutator.name === arrowFunction.name ? arrowFunction : mutator))
  const transform: Transform = (ast, collector, context) => transformBabel(ast, collector, context, mutators)
  const instrumenter: Instrumenter = new Instrumenter(logger, createParser, print, transform)
  const files = sources.map(({ path, text }) => ({ name: path, content: text, mutate: true as const }))
  const out = await instrumenter.instrument(files, { plugins: null, excludedMutations: [], ignorers: [] })
  rmSync(join(cache, "instrumented"), { recursive: true, force: true })
  for (const { content, name } of out.files) {
    const path = join(cache, "instrumented", name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, counted(content))
  }
  const lines = new Map(sources.map(({ path, text }) => [path, text.split("\n")]))
  const seen = new Map<string, number>()
  if (out.mutants.some(({ id }) => !/^\d+$/.test(id))) throw new Error("the instrumenter numbers in another way")
  return out.mutants.map(({ fileName, id, location, mutatorName, replacement }) => {
    const source = lines.get(fileName) ?? []
    const description = {
      file: fileName,
      text: (source[location.start.line] ?? "").trim(),
      mutator: mutatorName,
      from: oneLine(between(source, location)),
      to: oneLine(replacement)
    }
    const nth = (seen.get(identity(description)) ?? 0) + 1
    seen.set(identity(description), nth)
    return { mutant: { id, ...description, line: location.start.line + 1, nth }, location, replacement }
  })
}
