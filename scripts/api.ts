/**
 * Writes `docs/api.md`: every exported name of the published packages that is neither `@internal` nor `@hidden`, with the first sentence of its doc
 * comment, both as TypeDoc's JSON has them. TypeDoc is installed in `site`.
 *
 *   npm run api
 *   npm run api -- --check     fails if the page is not what it would write
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import { headOf, isListed, type Name, namesOf } from "./exports.ts"
import { read, root } from "./files.ts"
import { type MainName, mainNames, written } from "./mainNames.ts"
import { type Module, sections } from "./modules.ts"
import { referenceOf } from "./site/pages.ts"
import { typedoc } from "./site/programs.ts"

export const path = "docs/api.md"

/** A name, as TypeDoc prints it. */
interface Reflection {
  readonly id: number
  readonly name: string
  readonly kind: number
  readonly comment?: { readonly summary: ReadonlyArray<{ readonly text: string }> }
  readonly signatures?: ReadonlyArray<Reflection>
  readonly children?: ReadonlyArray<Reflection>
  /** What a name of another module is declared as. */
  readonly target?: number
}

/** Everything above is a value: TypeDoc's kinds are numbers. */
const INTERFACE = 256

const firstSentence = (text: string): string => {
  const [paragraph = ""] = text.split(/\n\s*\n|\n```/)
  const [sentence = ""] = paragraph.replaceAll(/\s+/g, " ").split(/(?<=[.!?])(?<!\b(?:e\.g|i\.e|etc)\.) (?=[A-Z`"'])/)
  return sentence.trim()
}

const summaryOf = ({ comment, signatures = [] }: Reflection): string =>
  [comment, ...signatures.map(({ comment }) => comment)]
    .map((one) => one?.summary.map(({ text }) => text).join("") ?? "")
    .find((text) => text !== "") ?? ""

/** What TypeDoc says of each name of a module: of a value and a type with one name, the comment of the value. */
const commentsIn = (module: Reflection, project: Reflection): ReadonlyMap<string, string> => {
  const homes = new Map(
    (project.children ?? []).flatMap((home) =>
      (home.children ?? []).map(({ id, name }) => [id, { home, name }] as const)
    )
  )
  const declared = (from: Reflection, name: string): ReadonlyArray<Reflection> =>
    (from.children ?? [])
      .filter((one) => one.name === name)
      .flatMap((one) => {
        const target = one.target === undefined ? undefined : homes.get(one.target)
        return target === undefined ? [one] : declared(target.home, target.name)
      })
  const commentOf = (name: string): string =>
    declared(module, name)
      .toSorted((a, b) => Number(a.kind >= INTERFACE) - Number(b.kind >= INTERFACE))
      .map(summaryOf)
      .find((text) => text !== "") ?? ""
  return new Map((module.children ?? []).map(({ name }) => [name, commentOf(name)]))
}

/** A name as the page lists it: `make`, `Agent` (type). */
export const entryOf = ({ name, value }: Name): string =>
  `\`${name}\`${value === undefined ? " (type)" : value === "class" ? " (class)" : ""}`

const linesOf = ({ path, title, whole }: Module, project: Reflection): ReadonlyArray<string> => {
  const heading = [`### ${posix.basename(title)}`, "", firstSentence(headOf(path)), ""]
  if (whole !== undefined) return [...heading, `All of it is in \`${posix.basename(whole)}\`.`, ""]
  const module = project.children?.find(({ name }) => name === referenceOf(title))
  if (module === undefined) throw new Error(`TypeDoc has no module ${title}`)
  const comments = commentsIn(module, project)
  const names = namesOf(path).filter(isListed)
  const exported = new Set(names.map(({ name }) => name))
  const missing = [...exported].filter((name) => !comments.has(name))
  const extra = [...comments.keys()].filter((name) => !exported.has(name))
  if (missing.length + extra.length > 0)
    throw new Error(`${title}: TypeDoc leaves out [${missing.join(", ")}] and adds [${extra.join(", ")}]`)
  // a namespace has the comment at the head of its module, which TypeDoc does not read
  const says = ({ comment, name }: Name): string => firstSentence(comments.get(name) || comment)
  return [...heading, ...names.map((name) => `- ${entryOf(name)}: ${says(name)}`), ""]
}

/** A main name, with a link to the list of its module. */
const linked = (main: MainName): string => `[\`${written(main)}\`](#${posix.basename(main.module).toLowerCase()})`

const render = (project: Reflection): string =>
  [
    "# Every exported name",
    "",
    "`npm run api` writes this page: the first sentence of each doc comment. Your editor shows the whole comment.",
    "",
    `Most programs need only these ${mainNames.length} names. Learn them in this order:`,
    "",
    ...mainNames.map((main, index) => `${index + 1}. ${linked(main)}`),
    "",
    ...sections.flatMap(({ modules, title }) => [
      `## ${title}`,
      "",
      ...modules.flatMap((module) => linesOf(module, project))
    ])
  ].join("\n")

const project = (): Reflection => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-api-"))
  try {
    const file = join(folder, "api.json")
    // names of Effect that a module passes on are names of that module too
    typedoc("--json", file, "--excludeExternals", "false")
    return JSON.parse(readFileSync(file, "utf8"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) {
  const page = render(project())
  if (!process.argv.includes("--check")) writeFileSync(join(root, path), page)
  else if (read(path).text !== page) throw new Error(`${path} is not up to date: \`npm run api\` writes it anew`)
}
