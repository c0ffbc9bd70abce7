import { assert, it } from "@effect/vitest"
import { vendorOf } from "../../../../packages/providers/src/codec/bedrock/vendor.ts"

it("the vendor of a model is a part of its name, behind a region or a path, or at the beginning", () => {
  for (const [prefix, vendor] of [
    ["anthropic.opus", "claude"],
    ["amazon.nova-pro", "nova"],
    ["openai.gpt-oss", "openai"]
  ] as const) {
    for (const name of [prefix, `us.${prefix}-v1:0`, `arn:aws:bedrock:us-east-1::foundation-model/${prefix}`]) {
      assert.strictEqual(vendorOf(name), vendor, name)
      assert.strictEqual(vendorOf(name.toUpperCase()), vendor, name)
    }
    assert.isUndefined(vendorOf(`my${prefix}`))
    assert.isUndefined(vendorOf(`my-${prefix.replace(".", "-")}`))
  }
  assert.strictEqual(vendorOf("my/claude-opus"), "claude")
  assert.isUndefined(vendorOf("arn:aws:bedrock:us-east-1:1:application-inference-profile/x"))
})
