/** What `npm run release:check` refuses to publish; `packaging.test.ts` looks into the real tarballs. */
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "../../scripts/files.ts"
import { manifestOf, packages } from "../../scripts/packages.ts"
import { faultsOf, type Tarball } from "../../scripts/release.ts"

const manifest = {
  name: "@kintsugi/core",
  version: "0.1.0",
  license: "MIT",
  exports: { ".": "./dist/index.js" },
  files: ["dist", "src", "README.md", "AGENTS.md", "LICENSE"],
  publishConfig: { access: "public", provenance: true },
  dependencies: { "@kintsugi/view": "^0.1.0" }
}

const repository = { type: "git", url: "git+https://example.org/k.git", directory: "packages/core" }

const files: Readonly<Record<string, string>> = {
  LICENSE: "MIT",
  "README.md": "# Core",
  "AGENTS.md": "# Core",
  "dist/index.js": "export {}",
  "dist/index.d.ts.map": "{}",
  "src/testing/index.ts": "export {}"
}

/** A tarball that may be published, with some fields and files in the place of its own. */
const planted = (
  fields: object = {},
  others: Readonly<Record<string, string | undefined>> = {},
  published?: string
): Tarball => {
  const all = { ...files, "package.json": JSON.stringify({ ...manifest, ...fields }), ...others }
  const present = Object.entries(all).flatMap(([path, text]) => (text === undefined ? [] : [[path, text] as const]))
  return { name: "core", files: new Map(present), sources: new Set(["src/testing/index.ts"]), repository: published }
}

describe("a tarball", () => {
  it("has no fault when it is as it should be, with and without a repository", () => {
    assert.deepStrictEqual(faultsOf(planted()), [])
    assert.deepStrictEqual(faultsOf(planted({ repository })), [])
    assert.deepStrictEqual(faultsOf(planted({ repository }, {}, "https://example.org/k")), [])
  })

  it.each([
    ["a test", { "src/run/Run.test.ts": "x" }, "holds a test: src/run/Run.test.ts"],
    ["a helper of tests", { "dist/_support/a.js": "x" }, "holds a test: dist/_support/a.js"],
    ["a source that is not kept", { "src/scratch.ts": "x" }, "holds src/scratch.ts, which git does not know"],
    [
      "notes of the compiler",
      { "dist/tsconfig.tsbuildinfo": "x" },
      "holds dist/tsconfig.tsbuildinfo, which is none of"
    ],
    ["a hidden file", { ".npmrc": "x" }, "holds .npmrc, which is none of"],
    ["a path of the machine", { "dist/index.js": join(root, "x") }, "names a folder of this machine in dist/index.js"],
    ["no licence", { LICENSE: undefined }, "lacks LICENSE"],
    ["an empty readme", { "README.md": "\n" }, "lacks README.md"],
    ["no entry", { "dist/index.js": undefined }, "exports dist/index.js, which it does not hold"]
  ])("is refused with %s", (_, others, fault) => {
    const found = faultsOf(planted({}, others))
    assert.strictEqual(found.length, 1, found.join("\n"))
    assert.include(found[0], fault)
  })

  it.each([
    ["another name", { name: "core" }, "has the name core"],
    ["a private package", { private: true }, "is private"],
    ["no licence", { license: undefined }, "has the licence undefined"],
    ["no access", { publishConfig: { provenance: true } }, "has no publishConfig.access: public"],
    ["no provenance", { publishConfig: { access: "public" } }, "has no publishConfig.provenance: true"],
    ["another list of files", { files: ["dist"] }, "publishes the list [dist]"],
    ["no exports", { exports: {} }, "exports nothing"],
    ["a bin that is not there", { bin: { k: "./dist/k.js" } }, "exports dist/k.js, which it does not hold"],
    ["a path of the workspace", { dependencies: { a: "workspace:^" } }, "depends on a path of the workspace"],
    ["another folder", { repository: { ...repository, directory: "packages/view" } }, "names the repository"]
  ])("is refused with %s in its manifest", (_, fields, fault) => {
    const found = faultsOf(planted(fields))
    assert.strictEqual(found.length, 1, found.join("\n"))
    assert.include(found[0], fault)
  })

  it("is refused where its repository is not the one that publishes it", () => {
    assert.deepStrictEqual(faultsOf(planted({}, {}, "https://example.org/k")), ["names no repository"])
    assert.match(
      faultsOf(planted({ repository }, {}, "https://example.org/fork")).join(),
      /^names the repository .*fork/
    )
  })
})

it("the manifests of all packages require provenance and public access, under one version", () => {
  const manifests = packages.map(manifestOf)
  for (const { publishConfig } of manifests) assert.include(publishConfig, { access: "public", provenance: true })
  assert.strictEqual(new Set(manifests.map(({ version }) => version)).size, 1)
})
