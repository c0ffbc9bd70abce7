/**
 * One word for each concept: refuses pronouns without a referent in any text, and in names the words that another word stands for.
 *
 *   npm run words            everything
 *   npm run words -- docs    the files below a folder
 *
 * The lint step runs it. `scripts/words/allowed.ts` lists the exceptions.
 */
import { filesIn } from "./files.ts"
import { allowed } from "./words/allowed.ts"
import { betterThan, type Finding, namesIn, pronounsIn } from "./words/finding.ts"

const MAX_ALLOWED = 20

const folder = process.argv[2] ?? "."

/** The page's script is built from other sources; the list and its test have the words themselves. */
const isWritten = (path: string) =>
  !path.endsWith("/page/script.ts") && !/^(?:scripts\/words\/|test\/repository\/words\.test)/.test(path)

const isText = (path: string) => /\.(?:ts|tsx|mjs|md|txt|vue|yml|yaml)$/.test(path) && isWritten(path)

const isSource = (path: string) => /\.(?:tsx?|mjs)$/.test(path) && isWritten(path)

/** Folders of texts that are no dot files to those who read them: release notes, workflows. */
const dotFolders = folder === "." ? [".changeset", ".github"] : []

const files = [folder, ...dotFolders].flatMap((one) => filesIn(one, isText))
const findings = [...files.flatMap(pronounsIn), ...files.filter(({ path }) => isSource(path)).flatMap(namesIn)]

const isWithin = (path: string, area: string) =>
  area === "." || path === area || (area.endsWith("/") && path.startsWith(area))
const covers = (one: (typeof allowed)[number], { name, path, word }: Finding) =>
  isWithin(path, one.path) && one.name === (name ?? word)

const refused = findings.filter((finding) => !allowed.some((one) => covers(one, finding)))
const unused = folder === "." ? allowed.filter((one) => !findings.some((finding) => covers(one, finding))) : []

const say = (line: string) => process.stdout.write(`${line}\n`)

for (const { line, name, path, word } of refused)
  say(
    name === undefined
      ? `${path}:${line} says '${word}': name who or what it is`
      : `${path}:${line} declares ${name}: '${word}' stands for ${betterThan(word)} here`
  )
for (const { name, path } of unused) say(`scripts/words/allowed.ts allows ${name} in ${path}, where it is not`)
if (allowed.length > MAX_ALLOWED) say(`${allowed.length} places are allowed, ${MAX_ALLOWED} at most may be`)
say(`${files.length} files, ${refused.length} words refused`)

process.exitCode = refused.length + unused.length === 0 && allowed.length <= MAX_ALLOWED ? 0 : 1
