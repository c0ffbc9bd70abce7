/** The workflows of the forge, as far as they can be checked without it. */
import { assert, describe, it } from "vitest"
import { read as file } from "../../scripts/files.ts"
import { faultsIn, read, stepsIn, unknownCommands, type Workflow } from "./_support/workflows.ts"

const scripts = Object.keys(JSON.parse(file("package.json").text).scripts)
const text = (name: string) => file(`.github/workflows/${name}.yml`).text
const release = read(text("release"))

describe.each(["ci", "release"])("the workflow %s", (name) => {
  it("has no fault", async () => {
    assert.deepStrictEqual(await faultsIn(text(name)), [])
  })

  it("pins every action to a commit, with its version beside it", () => {
    const used = text(name).match(/uses: .*/g) ?? []
    const steps = stepsIn(read(text(name))).filter(({ uses }) => uses !== undefined)
    assert.strictEqual(used.length, steps.length)
    assert.isAtLeast(used.length, 7)
    for (const line of used) assert.match(line, /^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it("calls scripts that package.json has", () => {
    const workflow = read(text(name))
    assert.deepStrictEqual(unknownCommands(workflow, scripts), [])
    assert.isAbove(stepsIn(workflow).filter(({ run }) => run !== undefined).length, 3)
  })

  it("is found faulty when it calls a script that package.json lacks", () => {
    const workflow = read(text(name).replace("run: npm test", "run: npm run tests"))
    assert.deepStrictEqual(unknownCommands(workflow, scripts), ["npm run tests"])
    const piped = read(text(name).replace("run: npm test", "run: curl https://example.org | sh"))
    assert.deepStrictEqual(unknownCommands(piped, scripts), ["curl https://example.org | sh"])
  })
})

describe("the linter", () => {
  it.each([
    ["a key that is none", "runs-on: ubuntu-latest", "run-on: ubuntu-latest", "Unexpected value 'run-on'"],
    ["a right that is none", "id-token: write", "id-tokens: write", "Unexpected value 'id-tokens'"],
    ["a job that is not there", "needs: pack", "needs: packed", "unknown job 'packed'"],
    ["a context that is none", "needs.select.outputs.plan", "need.select.outputs.plan", "named-value: 'need'"],
    ["an output that is not there", "needs.select.outputs.plan", "needs.select.outputs.plans", "invalid: plans"],
    ["a step that is not there", "steps.pack.outputs", "steps.packs.outputs", "invalid: packs"],
    ["an action without a version", /setup-node@.*/, "setup-node", "Expected format {owner}/{repo}"],
    ["text that is no YAML", "jobs:", "jobs", "Implicit keys"]
  ])("finds %s", async (_, from, to, fault) => {
    const found = await faultsIn(text("release").replace(from, to))
    assert.include(found.join("\n"), fault)
  })
})

describe("the workflow release", () => {
  const rights = ({ jobs }: Workflow, right: string) =>
    Object.entries(jobs).flatMap(([name, { permissions = {} }]) => (permissions[right] === "write" ? [name] : []))

  it("gives each job the rights that it names, and the right to publish to one job that runs no code of the repository", () => {
    assert.deepStrictEqual(release.permissions, {})
    assert.deepStrictEqual(rights(release, "id-token"), ["publish"])
    assert.deepStrictEqual(rights(release, "contents"), ["version", "publish"])
    const { environment, steps = [] } = release.jobs["publish"] ?? {}
    assert.strictEqual(environment, "npm")
    assert.deepStrictEqual(
      steps.flatMap(({ run = [] }) => run),
      ["corepack enable", "pnpm install --frozen-lockfile --ignore-scripts"]
    )
    assert.notInclude(text("release"), "secrets.")
  })

  it("publishes what it has tested: the tests run, then the tarballs are checked and packed, then they are published", () => {
    const steps = (release.jobs["pack"]?.steps ?? []).map(({ run, uses }) => run ?? uses?.split("@")[0])
    assert.deepStrictEqual(steps.slice(-3), [
      "npm test",
      'npm run release:check -- --repository="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"',
      "changesets/action/pack"
    ])
    assert.strictEqual(release.jobs["publish"]?.needs, "pack")
  })
})
