/** Which mutants do not compile: the check of types has found them out before any test. */
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type File, filesIn, root } from "../../../scripts/files.ts"
import { areas } from "./areas.ts"
import { binary } from "../../../scripts/tools.ts"
import type { Placed } from "./instrument.ts"
import { cache, type Mutant } from "./protocol.ts"

const folder = join(cache, "types")

/** A copy of the packages' sources, so that mutants can stand beside what they import. */
const copy = (): void => {
  rmSync(folder, { recursive: true, force: true })
  for (const { name } of areas) {
    const to = join(folder, "packages", name)
    for (const { path, text } of filesIn(`packages/${name}/src`, (path) => path.endsWith(".ts"))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    cpSync(join(root, "packages", name, "package.json"), join(to, "package.json"))
    symlinkSync(join(root, "packages", name, "node_modules"), join(to, "node_modules"))
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
}

/** The source with one mutant for good. */
const mutate = (text: string, { location: { end, start }, mutant, replacement }: Placed): string => {
  const lines = text.split("\n")
  const before = [...lines.slice(0, start.line), (lines[start.line] ?? "").slice(0, start.column)].join("\n")
  const after = [(lines[end.line] ?? "").slice(end.column), ...lines.slice(end.line + 1)].join("\n")
  return `${before}${isExpression(mutant) ? `(${replacement})` : replacement}${after}`
}

/** Blocks, cases and empty statements stand where brackets cannot, nor keys of objects. */
const isExpression = ({ mutator, to }: Mutant): boolean =>
  mutator !== "BlockStatement" && !/^(case\b|default:|;$)/.test(to)

/** Errors without the name of the copy and the place in it, so that those of copies can be compared. */
const errorsOf = (output: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = new Map<string, Array<string>>()
  for (const [, path = "", error = ""] of output.matchAll(/^(\S+?)\(\d+,\d+\): (error TS\d+: .*)$/gm)) {
    const errors = found.get(path)
    const plain = error.replaceAll(/_mutant\w+/g, "")
    if (errors === undefined) found.set(path, [plain])
    else errors.push(plain)
  }
  return found
}

const copyOf = (path: string, name: string) => path.replace(/\.ts$/, `_mutant${name}.ts`)

/**
 * The ids of those among the mutants that do not compile. Each stands in a copy of its file beside it; a copy without a mutant
 * tells which errors come of being a copy.
 */
export const uncompilable = (placed: ReadonlyArray<Placed>, sources: ReadonlyArray<File>): ReadonlySet<string> => {
  if (placed.length === 0) return new Set()
  copy()
  const texts = new Map(sources.map(({ path, text }) => [path, text]))
  const files = [...new Set(placed.map(({ mutant }) => mutant.file))]
  for (const file of files) writeFileSync(join(folder, copyOf(file, "None")), texts.get(file) ?? "")
  for (const one of placed) {
    const { file, id } = one.mutant
    writeFileSync(join(folder, copyOf(file, id)), mutate(texts.get(file) ?? "", one))
  }
  // one copy that does not parse would keep the types of all from being checked
  const wrong = "packages/core/src/_mutantWrong.ts"
  writeFileSync(join(folder, wrong), "export const wrong: string = 0\n")
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
    include: ["packages/*/src"],
    exclude: ["**/node_modules"]
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [binary("typescript", "tsc"), "-p", folder, "--pretty", "false"],
    {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 2 ** 28
    }
  )
  if (stderr !== "") throw new Error(stderr)
  const errors = errorsOf(stdout)
  if (!errors.has(wrong)) throw new Error(`the types of the mutants were not checked:\n${stdout}`)
  return new Set(
    placed
      .filter(({ mutant: { file, id } }) => {
        const control = new Set(errors.get(copyOf(file, "None")))
        return (errors.get(copyOf(file, id)) ?? []).some((error) => !control.has(error))
      })
      .map(({ mutant }) => mutant.id)
  )
}
