/** Why a file could not be read or written, in plain words. */
import { assert, it } from "@effect/vitest"
import * as PlatformError from "effect/PlatformError"
import { notFound, reasonOf } from "../../../packages/view/src/cli/failure.ts"

it("the reason of a failed access is plain, or that of the system [P1240]", () => {
  const system = (_tag: PlatformError.SystemErrorTag, more: { readonly cause?: unknown } = {}) =>
    PlatformError.systemError({ _tag, module: "FileSystem", method: "open", pathOrDescriptor: "x", ...more })
  const cause = new Error("EIO: i/o error")
  for (const [error, reason] of [
    [system("NotFound", { cause }), notFound],
    [system("PermissionDenied", { cause }), "permission denied"],
    [system("BadResource", { cause }), "it is a folder, or no file at all"],
    [system("Unknown", { cause }), "EIO: i/o error"],
    [system("Busy", { cause: "busy" }), "Busy: FileSystem.open (x)"]
  ] as const)
    assert.strictEqual(reasonOf(error), reason)
  assert.strictEqual(notFound, "there is no such file")
})
