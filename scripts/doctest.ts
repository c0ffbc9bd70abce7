/**
 * Runs the examples of the documentation.
 *
 * An example is a fence that opens with ```` ```ts ````, in a Markdown page or in a doc comment. Every example is type-checked
 * as a module of its own; it is also run, unless the fence opens with ```` ```ts no-run ````. Two comments are checked:
 *
 * - `expression // => value`, or `const name = … // => value`: the value must be deeply equal, that of a promise once it is
 *   there. The comment may stand on the line below, and go on over several comment lines.
 * - `//    ^? Type` under the name of a constant: its inferred type must be identical to the one shown.
 *
 * An example that imports `@effect/vitest` is a test file: Vitest runs it, and each of its tests must pass.
 *
 *   npm run doctest                   all of them
 *   npm run doctest -- docs/guide     those of some pages or sources
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, posix } from "node:path"
import { namesOf } from "./exports.ts"
import { type File, pathsIn, read, root } from "./files.ts"
import { modules } from "./modules.ts"
import { lineAt, type Node, nodeIn, nodesIn, parse, textIn } from "./syntax.ts"
import { binary } from "./tools.ts"

/** One fence. */
export interface Example {
  readonly path: string
  /** Line of the file on which the code begins. */
  readonly line: number
  readonly code: string
  readonly runs: boolean
}

/** A problem of an example, and its line in the file. */
export interface Problem {
  readonly line: number
  readonly message: string
}

const openingFence = /^(\s*)(`{3,})(.*)$/

/** Only the text of doc comments, each line with its number. */
const docCommentsOf = (text: string): string => {
  let inside = false
  return text
    .split("\n")
    .map((line) => {
      if (/^\s*\/\*\*/.test(line)) inside = !line.includes("*/")
      else if (inside && /\*\/\s*$/.test(line)) inside = false
      else if (inside) return line.replace(/^\s*\* ?/, "")
      return ""
    })
    .join("\n")
}

/** The examples of a Markdown page, or of the doc comments of a source. */
export const extract = ({ path, text }: File): ReadonlyArray<Example> => {
  const lines = (path.endsWith(".md") ? text : docCommentsOf(text)).split("\n")
  const examples: Array<Example> = []
  for (let index = 0; index < lines.length; index++) {
    const [, indent = "", ticks, info = ""] = openingFence.exec(lines[index] ?? "") ?? []
    if (ticks === undefined) continue
    const start = index + 1
    const isClosing = (line: string | undefined) => line === undefined || line.trim() === ticks
    do index++
    while (!isClosing(lines[index]))
    if (index >= lines.length) throw new Error(`${path}:${start} opens a fence that is never closed`)
    const [language, ...marks] = info.trim().split(/\s+/)
    if (language !== "ts") continue
    const unknown = marks.filter((mark) => mark !== "no-run")
    if (unknown.length > 0)
      throw new Error(`${path}:${start} marks a fence "${unknown.join(" ")}"; only "no-run" is known`)
    const code = lines.slice(start, index).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    examples.push({ path, line: start + 1, code: code.join("\n"), runs: !marks.includes("no-run") })
  }
  return examples
}

/**
 * A type in full, `import("@kintsugi/core/Model").Model`, of those that a hover names without a path; a name that the example declares
 * itself is left alone.
 */
export interface TypeHomes {
  (name: string): string | undefined
}

/** What generated sources import; they are written to a folder in `.cache`. */
const runtime = "../../scripts/doctestRuntime.ts"

interface Edit {
  readonly at: number
  readonly text: string
}

/** The source of an example with its assertions, line by line at the same places. */
export interface Generated {
  readonly source: string
  readonly problems: ReadonlyArray<Problem>
}

/** Whether Vitest runs it. */
const isTestFile = ({ code }: Example): boolean => code.includes('from "@effect/vitest"')

/** What the parser says against a text, nothing if it parses. */
const syntaxError = (text: string): string | undefined => {
  try {
    parse(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The text of a comment and, until it parses, of the comment lines below it. */
const readOn = (first: string, following: string, wrap: (text: string) => string): string | undefined => {
  const more = following.split("\n")
  let text = first.trim()
  for (let next = 0; syntaxError(wrap(text)) !== undefined; next++) {
    const [, continued] = /^\s*\/\/(.*)$/.exec(more[next] ?? "") ?? []
    if (continued === undefined) return undefined
    text = `${text} ${continued.trim()}`
  }
  return text
}

const assertionAfter = /^;?[ \t]*(?:\n[ \t]*)?\/\/ =>(.*)/

const HOVER = /^([ \t]*\/\/[ \t]*)\^\?(.*)$/

const declaredName = (statement: Node): string | undefined => {
  const declaration = nodeIn(statement, "declaration") ?? statement
  const declarators = nodesIn(declaration, "declarations")
  const id = declarators.length === 1 ? nodeIn(declarators[0]!, "id") : undefined
  return id?.type === "Identifier" ? textIn(id, "name") : undefined
}

const qualify = (type: string, code: string, homes: TypeHomes): string =>
  type.replaceAll(/"[^"]*"|(?<![.\w$])([A-Z]\w*)(?!\w*\s*(?:\.|\??:))/g, (whole, name: string | undefined) => {
    if (name === undefined || new RegExp(`\\b(?:class|interface|type)\\s+${name}\\b`).test(code)) return whole
    return homes(name) ?? whole
  })

/** Turns the comments of an example into code. */
export const generate = (example: Example, homes: TypeHomes): Generated => {
  const { code } = example
  const broken = syntaxError(code)
  // One file that does not parse would hide the type errors of all others.
  if (broken !== undefined) return { source: "export {}\n", problems: [{ line: example.line, message: broken }] }
  const problems: Array<Problem> = []
  const edits: Array<Edit> = []
  const report = (offset: number, message: string) =>
    problems.push({ line: example.line + lineAt(code, offset) - 1, message })

  const statements = nodesIn(parse(code), "body")
  const read = new Set<number>()

  for (const statement of statements) {
    const rest = code.slice(statement.end)
    const [found, first = ""] = assertionAfter.exec(rest) ?? []
    if (found === undefined) continue
    const offset = statement.end + found.indexOf("// =>")
    read.add(offset)
    const expected = readOn(first, rest.slice(found.length + 1), (text) => `(${text})`)
    const name = declaredName(statement)
    const where = example.line + lineAt(code, offset) - 1
    const end = code[statement.end - 1] === ";" ? statement.end - 1 : statement.end
    if (expected === undefined) report(offset, "the expected value is no expression")
    else if (statement.type === "ExpressionStatement") {
      edits.push({ at: statement.start, text: `;await $doc.same(${where}, (` }, { at: end, text: `), (${expected}))` })
    } else if (name !== undefined) {
      edits.push({ at: statement.end, text: `;await $doc.same(${where}, ${name}, (${expected}))` })
    } else report(offset, "an assertion follows an expression or a constant with one name")
  }
  for (const { index } of code.matchAll(/\/\/ =>/g)) {
    if (!read.has(index)) report(index, "this assertion does not follow a top-level statement")
  }

  if (isTestFile(example) && read.size > 0) report(0, "a test file has its assertions in its tests")

  let offset = 0
  let previous = { offset: 0, line: "" }
  for (const line of code.split("\n")) {
    const [, before, type = ""] = HOVER.exec(line) ?? []
    if (before === undefined) previous = { offset, line }
    else {
      const shown = readOn(type, code.slice(offset + line.length + 1), (text) => `type T = ${text}`)
      const column = before.length
      const word = [...previous.line.matchAll(/[\w$]+/g)].find(
        (m) => m.index <= column && column < m.index + m[0].length
      )
      const at = previous.offset + column
      const statement = statements.find((each) => each.start <= at && at < each.end)
      const name = statement === undefined ? undefined : declaredName(statement)
      if (shown === undefined) report(offset, "the type shown is no type")
      else if (statement === undefined || name === undefined || name !== word?.[0]) {
        report(offset, "a hover points at the name of a top-level constant")
      } else {
        const pinned = `const $hover${at}: $doc.Same<typeof ${name}, ${qualify(shown, code, homes)}> = true; void $hover${at}`
        edits.push({ at: statement.end, text: `; ${pinned}` })
      }
    }
    offset += line.length + 1
  }

  // From the end, so that the offsets of the others stay true; at one place, the later edit first.
  const ordered = edits
    .map((edit, index) => ({ edit, index }))
    .toSorted((a, b) => b.edit.at - a.edit.at || b.index - a.index)
  let source = code
  for (const { edit } of ordered) source = source.slice(0, edit.at) + edit.text + source.slice(edit.at)
  return { source: `import * as $doc from "${runtime}"; ${source}\n`, problems }
}

/** The types of the packages by the name that users see, and the most common ones of Effect. */
export const installedTypes = (): TypeHomes => {
  const common = "Cause Duration Effect Exit Layer Option Result Schedule Scope Stream"
  const homes = new Map(common.split(" ").map((name) => [name, `import("effect/${name}").${name}`]))
  for (const { imports, path, title } of modules) {
    const [folder, module] = [posix.dirname(title), posix.basename(title)]
    const home = imports.includes(title) ? `import("${title}")` : `import("${folder}").${module}`
    for (const { isType, name } of namesOf(path)) {
      if (isType && (!homes.has(name) || title.endsWith(`/${name}`))) homes.set(name, `${home}.${name}`)
    }
  }
  return (name) => homes.get(name)
}

const tsconfig = { extends: "../../tsconfig.json", include: ["."] }

/** The compiler's messages, each with the file and line that it is about. */
const compilerErrors = (output: string) => {
  const errors: Array<{ file: string; line: number; message: string }> = []
  for (const line of output.split("\n")) {
    const [, file, row, message] = /^(.+?)\((\d+),\d+\): error (TS\d+: .*)$/.exec(line) ?? []
    const last = errors.at(-1)
    if (file !== undefined && row !== undefined && message !== undefined)
      errors.push({ file, line: Number(row), message })
    else if (last !== undefined && line.startsWith(" ")) last.message += `\n${line}`
    else if (line.trim() !== "") throw new Error(`the compiler said: ${output}`)
  }
  return errors
}

interface TestReport {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{ readonly failureMessages: ReadonlyArray<string> }>
  }>
}

/** What Vitest says against test files, in their order; of a file that has tests, and each passes, nothing. */
const failuresOfTests = (
  folder: string,
  files: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv
): ReadonlyArray<string | undefined> => {
  if (files.length === 0) return []
  const options = ["run", "--root", folder, "--no-color", "--reporter=json", "--outputFile=tests.json"]
  const ran = spawnSync(process.execPath, [binary("vitest"), ...options, ...files], {
    cwd: folder,
    encoding: "utf8",
    env
  })
  const path = join(folder, "tests.json")
  if (!existsSync(path)) throw new Error(`Vitest said: ${ran.stdout}${ran.stderr}`)
  const { testResults }: TestReport = JSON.parse(readFileSync(path, "utf8"))
  return files.map((file) => {
    const result = testResults.find(({ name }) => posix.basename(name) === posix.basename(file))
    if (result?.status === "passed") return undefined
    const said = [result?.message ?? "", ...(result?.assertionResults ?? []).flatMap((test) => test.failureMessages)]
    return `Vitest said: ${said.join("\n").replaceAll(join(folder, file), "example.test.ts")}`
  })
}

/** The problems of each example, in the order of the examples: all are compiled at once, then run in one process. */
export const check = (examples: ReadonlyArray<Example>, homes: TypeHomes): ReadonlyArray<ReadonlyArray<Problem>> => {
  if (examples.length === 0) return []
  mkdirSync(join(root, ".cache"), { recursive: true })
  const folder = mkdtempSync(join(root, ".cache", "doctest-"))
  try {
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
    const files = examples.map((example, index) => `./example${index}${isTestFile(example) ? ".test" : ""}.ts`)
    const generated = examples.map((example) => generate(example, homes))
    generated.forEach(({ source }, index) => write(files[index]!, source))
    write("tsconfig.json", JSON.stringify(tsconfig))
    // the files of certificates that an example may read
    cpSync(join(root, "test/fixtures/certificates"), folder, { recursive: true })

    const compiled = spawnSync(process.execPath, [binary("typescript", "tsc"), "-p", ".", "--pretty", "false"], {
      cwd: folder,
      encoding: "utf8"
    })
    const problems = generated.map((each) => [...each.problems])
    for (const { file, line, message } of compilerErrors(compiled.stdout)) {
      const index = files.indexOf(`./${file}`)
      if (index < 0) throw new Error(`${file}(${line}): ${message}`)
      problems[index]?.push({ line: examples[index]!.line + line - 1, message })
    }

    const isSound = examples.map(({ runs }, index) => runs && problems[index]?.length === 0)
    const running = examples.flatMap((example, index) =>
      isSound[index] && !isTestFile(example) ? [{ file: files[index]!, line: example.line, index }] : []
    )
    write(
      "run.ts",
      `import { runAll } from "${runtime}"\nawait runAll(import.meta.dirname, ${JSON.stringify(running)})\n`
    )
    // what an example leaves in the folder for temporary files goes as well
    const env = { ...process.env, TMPDIR: folder, TEMP: folder, TMP: folder }
    const ran = spawnSync(process.execPath, ["run.ts"], { cwd: folder, encoding: "utf8", env })
    const results = existsSync(join(folder, "results")) ? readFileSync(join(folder, "results"), "utf8").split("\n") : []
    for (const [position, { index, line }] of running.entries()) {
      const result = results[position]
      if (result) problems[index]?.push(...JSON.parse(result).failures)
      else problems[index]?.push({ line, message: `the process ended before this example did\n${ran.stderr}` })
    }
    const tests = files.flatMap((file, index) =>
      isSound[index] && isTestFile(examples[index]!) ? [{ file, index }] : []
    )
    const names = tests.map(({ file }) => file)
    for (const [position, message] of failuresOfTests(folder, names, env).entries()) {
      const { index } = tests[position]!
      if (message !== undefined) problems[index]?.push({ line: examples[index]!.line, message })
    }
    return problems
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Files that hold examples: the pages, and the sources of the packages. */
export const documents = (): ReadonlyArray<File> => {
  const isPage = (path: string) => path.endsWith(".md")
  const packages = pathsIn("packages", (path) => /^packages\/[^/]+\/((README|AGENTS)\.md|src\/.+\.ts)$/.test(path))
  return [...pathsIn("README.md"), ...pathsIn("docs", isPage), ...packages].map(read)
}

if (import.meta.main) {
  const given = process.argv.slice(2)
  const examples = documents()
    .filter(({ path }) => given.length === 0 || given.some((start) => path.startsWith(start)))
    .flatMap(extract)
  const problems = check(examples, installedTypes())
  for (const [index, found] of problems.entries()) {
    for (const { line, message } of found) process.stdout.write(`${examples[index]?.path}:${line} ${message}\n`)
  }
  const failed = problems.filter((found) => found.length > 0).length
  process.stdout.write(`${examples.length - failed} examples passed, ${failed} failed\n`)
  process.exitCode = failed > 0 ? 1 : 0
}
