/**
 * Writes the JavaScript that a package publishes, in few files: Node takes longer for a file than for what is in it. A public module is
 * a file under its own name; what they share is in `dist/internal`, and most of it in one file, `main.js`.
 *
 *   node scripts/launch.mjs scripts/merge.ts core
 *
 * A module is in `main.js` if it loads nothing of other packages, itself or through others, that a small program does not load anyway.
 * Otherwise that program would load it for a feature that it does not use.
 *
 * An index stays as the compiler writes it. As an input of Rolldown, its namespaces would become objects, of which a bundler of users
 * cannot leave out a part.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join, posix, relative, resolve } from "node:path"
import { type Plugin, rolldown } from "rolldown"
import { pathsWithin, read, root } from "./files.ts"
import { exportsOf, manifestOf } from "./packages.ts"
import { marked } from "./pure.ts"

/** What a small program imports of a package. */
const small: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: ["Agent", "Model", "Recovery", "Skill", "Tool"],
  providers: ["OpenAi"]
}

const isIndex = (path: string): boolean => posix.basename(path) === "index.ts"

/** The modules that an index exports, from the root. */
const namedIn = (index: string): ReadonlyArray<string> =>
  [...read(index).text.matchAll(/^export .* from "(\.[^"]+)"/gm)].map(([, from = ""]) =>
    posix.join(posix.dirname(index), from)
  )

/** The sources, from the root, that keep a file under their own name: what is exported, and what is started. */
const entriesOf = (name: string): ReadonlyArray<string> => {
  const modules = [...exportsOf(name).values()].flatMap((path) => (isIndex(path) ? namedIn(path) : [path]))
  const programs = Object.values(manifestOf(name).bin ?? {}).map((path) => posix.join("packages", name, path))
  return [...new Set([...modules, ...programs])]
}

/** What stays outside of the files: what is installed beside the package, and what Node brings. */
const externalTo = (name: string): ((id: string) => boolean) => {
  const { dependencies, peerDependencies } = manifestOf(name)
  const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }))
  return (id) => id.startsWith("node:") || installed.has(packageOf(id))
}

/** The package of an import: `@effect/platform-node` of `@effect/platform-node/NodeFileSystem`. */
const packageOf = (id: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id

/** What each module imports, by their identifiers; those of other packages import nothing. */
class Graph {
  readonly #imports = new Map<string, ReadonlyArray<string>>()

  readonly plugin = (isExternal: (id: string) => boolean): Plugin => {
    const imports = this.#imports
    return {
      name: "graph",
      buildEnd() {
        for (const id of this.getModuleIds())
          if (!isExternal(id)) imports.set(id, this.getModuleInfo(id)?.importedIds ?? [])
      }
    }
  }

  /** What these modules load of other packages, themselves and through others. */
  foreignTo(modules: Iterable<string>): ReadonlySet<string> {
    const reached = new Set(modules)
    for (const id of reached) for (const imported of this.#imports.get(id) ?? []) reached.add(imported)
    return new Set([...reached].filter((id) => !this.#imports.has(id)))
  }
}

/** Marks our sources, and first, so that unused code is left out. Lines stay where they are. */
const marking = (sources: string): Plugin => ({
  name: "marks",
  transform: (code, id) => (isInside(sources, id) ? { code: marked(code, "ts"), map: null } : undefined)
})

const isInside = (folder: string, path: string): boolean => !relative(folder, path).startsWith("..")

/** Writes the files of a package into its `dist`, where the compiler has left the declarations and the indexes. */
export const merge = async (name: string): Promise<void> => {
  const folder = join(root, "packages", name)
  const isExternal = externalTo(name)
  const graph = new Graph()
  const exported = exportsOf(name)
  const roots = (small[name] ?? []).map((module) => {
    const path = exported.get(`@kintsugi/${name}/${module}`)
    if (path === undefined) throw new Error(`${name} exports no ${module} any more`)
    return join(root, path)
  })
  let loaded: ReadonlySet<string> | undefined
  const isMain = (id: string): boolean => {
    const allowed = (loaded ??= graph.foreignTo(roots))
    return !/[\\/]testing[\\/]/.test(id) && [...graph.foreignTo([id])].every((foreign) => allowed.has(foreign))
  }
  const sources = posix.join("packages", name, "src")
  const nameOf = (path: string): string => posix.relative(sources, path).replace(/\.ts$/, "")
  const bundle = await rolldown({
    input: Object.fromEntries(entriesOf(name).map((path) => [nameOf(path), join(root, path)])),
    external: isExternal,
    // a program needs what is for Node, a library nothing
    platform: manifestOf(name).bin === undefined ? "neutral" : "node",
    preserveEntrySignatures: "strict",
    tsconfig: false,
    transform: { target: "es2024" },
    plugins: [graph.plugin(isExternal), marking(join(folder, "src"))]
  })
  await bundle.write({
    dir: join(folder, "dist"),
    format: "esm",
    sourcemap: true,
    // the sources and the declarations have what is said about a name; Node would read it at each start
    comments: { legal: true, annotation: true, jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: "internal/[name].js",
    codeSplitting: { groups: roots.length === 0 ? [] : [{ name: "main", test: isMain }] }
  })
  await bundle.close()
  leaveOutSources(folder)
}

/** The sources are published: a map holds the text of others only, which the bin has taken in. */
const leaveOutSources = (folder: string): void => {
  for (const path of pathsWithin(join(folder, "dist")).filter((path) => path.endsWith(".js.map"))) {
    const file = join(folder, "dist", path)
    const map = JSON.parse(readFileSync(file, "utf8"))
    if (map.sourcesContent === undefined) continue
    const isPublished = (source: string): boolean => isInside(join(folder, "src"), resolve(dirname(file), source))
    map.sourcesContent = map.sources.map((source: string, index: number) =>
      isPublished(source) ? null : map.sourcesContent[index]
    )
    writeFileSync(file, JSON.stringify(map))
  }
}

if (import.meta.main) for (const name of process.argv.slice(2)) await merge(name)
