/**
 * Two runs of a refund desk, of a review of the pictures, on virtual time: one that fails at its last call, and one that completes. Fields
 * that have had other names since are named as today (`entry`, `gaveUp`).
 */
import { Recording } from "@kintsugi/view"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export const midFile = (name: "mid-fail" | "mid-ok"): string => join(import.meta.dirname, "recordings", `${name}.jsonl`)

export const mid = (name: "mid-fail" | "mid-ok"): Recording.Recording =>
  Recording.parse(readFileSync(midFile(name), "utf8"))
