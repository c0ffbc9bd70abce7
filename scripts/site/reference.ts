/** The pages that TypeDoc drew from the doc comments, made fit to be read. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import { headOf } from "../exports.ts"
import { root } from "../files.ts"
import { type Module } from "../modules.ts"
import { binary } from "../tools.ts"
import { referenceOf, references } from "./pages.ts"

/** A declaration as TypeDoc prints it, as a statement that parses; `undefined` for what is none. */
const statementOf = (code: string): string | undefined => {
  if (/^(?:function|const|let|class|type|interface) /.test(code)) return `declare ${code}`
  // a value that has a type of the same name
  if (/^\w+: /.test(code)) return `declare const ${code}`
  if (/^(?:static |readonly )?[\w$]+(?:<|\()/.test(code)) return `declare class _ {\n${code}\n}`
  return undefined
}

const declarationOf = (statement: string): string =>
  statement
    .trim()
    .replace(/^declare class _ \{\n([^]*)\n\}$/, (_, body: string) => body.replaceAll(/^ {2}/gm, ""))
    .replace(/^declare /, "")

const fences = /^```ts\n([^]*?)\n```$/gm

/** The declarations of some pages, laid out as sources are, by what stands there now. What does not parse is left as it is. */
const formatted = (pages: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const codes = [...new Set(pages.flatMap((text) => [...text.matchAll(fences)].map(([, code = ""]) => code)))]
  // outside of the repository, where nothing is ignored
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-declarations-"))
  const settings = JSON.parse(readFileSync(join(root, ".oxfmtrc.json"), "utf8"))
  // as many columns as the site has room for
  writeFileSync(join(folder, "oxfmt.json"), JSON.stringify({ ...settings, printWidth: 88 }))
  const files = codes.flatMap((code, index) => {
    const statement = statementOf(code)
    const file = join(folder, `${index}.ts`)
    if (statement === undefined) return []
    writeFileSync(file, statement)
    return [{ code, file }]
  })
  spawnSync(process.execPath, [binary("oxfmt"), "-c", join(folder, "oxfmt.json"), "."], {
    cwd: folder,
    stdio: "ignore"
  })
  const layouts = new Map(files.map(({ code, file }) => [code, declarationOf(readFileSync(file, "utf8"))]))
  rmSync(folder, { recursive: true })
  return layouts
}

/** The head of a page: what the module is, as its own comment says. */
const head = (module: Module): string =>
  [
    "---\npageClass: reference\noutline: [2, 3]\n---",
    `# ${posix.basename(module.title)}`,
    `Imported from ${module.imports.map((path) => `\`${path}\``).join(", or by itself from ")}.`,
    headOf(module.path)
  ].join("\n\n")

/**
 * Takes the namespaces of a module into its page: TypeDoc writes a folder for such a module, with a page for each namespace. Their
 * headings move one level down.
 */
const gather = (folder: string, reference: string): void => {
  const own = join(folder, reference)
  if (existsSync(`${own}.md`)) return
  const index = readFileSync(join(own, "index.md"), "utf8")
  const page = index.replace(/^## Namespaces\n([^]*?)(?=^## |(?![^]))/m, (_, list: string) =>
    [...list.matchAll(/\((namespaces\/[\w/]+\.md)\)/g)]
      .map(([, path = ""]) => readFileSync(join(own, path), "utf8").replaceAll(/^#(?=#* )/gm, "##"))
      .join("\n")
  )
  writeFileSync(`${own}.md`, page)
  rmSync(own, { recursive: true })
  const list = join(folder, "index.md")
  writeFileSync(list, readFileSync(list, "utf8").replaceAll(`${reference}/index.md`, `${reference}.md`))
}

/** Says on the page of each module, all of them below a folder, what the module is, and lays out its declarations. */
export const finish = (folder: string): void => {
  const pages = references().map((module) => {
    gather(folder, referenceOf(module.title))
    const file = join(folder, `${referenceOf(module.title)}.md`)
    return { file, head: head(module), text: readFileSync(file, "utf8").replace(/^# .+\n/, "") }
  })
  const layouts = formatted(pages.map(({ text }) => text))
  for (const { file, head, text } of pages) {
    const body = text.replaceAll(fences, (_, code: string) => `\`\`\`ts\n${layouts.get(code) ?? code}\n\`\`\``)
    writeFileSync(file, `${head}\n${body}`)
  }
}
