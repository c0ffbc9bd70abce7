/**
 * What an agent with one tool weighs in one file, and how long it takes from its import to the answer of its first call, from a server on
 * the loopback interface; beside the same by hand.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { bundle, helloOf, type Import, importTimes, inFolder, install, program } from "../bundling.ts"
import { type Figure, report } from "../figures.ts"
import { median } from "../harness.ts"
import { withServer } from "../loopback.ts"

const laps = 20

/** The hello agent with the best policy that needs no knowledge of its tools. */
const resilient = (hello: string): string => {
  const made = /^const agent = (.*)$/m
  if (!made.test(hello)) throw new Error("the hello agent is made in another way")
  return hello.replace(made, "const agent = $1.pipe(Agent.resilient())")
}

const figuresOf = (name: string, imports: ReadonlyArray<Import>, target: Partial<Figure> = {}) => [
  { name, value: median(imports.map(({ wall }) => wall)), unit: "ms", ...target },
  { name: `${name}, processor`, value: median(imports.map(({ cpu }) => cpu)), unit: "ms" }
]

await inFolder((folder) =>
  withServer(async (baseUrl) => {
    install(folder)
    const hello = readFileSync(helloOf("ours"), "utf8")
    const loose = {
      ours: join(folder, "ours.mjs"),
      effect: program(folder, "effect", readFileSync(helloOf("effect"), "utf8")),
      resilient: program(folder, "resilient", resilient(hello))
    }
    const bundles = {
      ours: await bundle(folder, "ours", loose.ours),
      resilient: await bundle(folder, "resilient", loose.resilient),
      effect: await bundle(folder, "effect", loose.effect),
      zod: await bundle(folder, "typescript", helloOf("typescript"))
    }
    const files = [bundles.ours.file, bundles.effect.file, bundles.zod.file]
    const [ours = [], effect = [], zod = []] = importTimes(files, laps, { baseUrl })
    const [cached = [], effectCached = []] = importTimes(files.slice(0, 2), laps, {
      baseUrl,
      cache: join(folder, "cache")
    })
    const [unbundled = [], effectUnbundled = []] = importTimes([loose.ours, loose.effect], laps, { baseUrl })
    report("a bundled hello agent", [
      { name: "ours, gzip", value: bundles.ours.gzip, unit: "KB", most: 118, margin: 0.05 },
      { name: "ours with Agent.resilient(), gzip", value: bundles.resilient.gzip, unit: "KB", most: 135, margin: 0.05 },
      { name: "bare Effect, gzip", value: bundles.effect.gzip, unit: "KB" },
      { name: "bare TypeScript with zod, gzip", value: bundles.zod.gzip, unit: "KB" },
      ...figuresOf("ours, start and first call", ours, { most: 30 }),
      ...figuresOf("ours, the same with Node's compile cache", cached, { most: 17 }),
      ...figuresOf("bare Effect, start and first call", effect),
      ...figuresOf("bare Effect, the same with Node's compile cache", effectCached),
      ...figuresOf("bare TypeScript with zod, start and first call", zod)
    ])
    report("an import without a bundler, and the first call", [
      ...figuresOf("ours", unbundled),
      ...figuresOf("bare Effect", effectUnbundled)
    ])
  })
)
