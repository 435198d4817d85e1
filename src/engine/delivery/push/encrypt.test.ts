import { createECDH } from 'node:crypto'
import { expect, test } from 'vitest'
import { encryptPush, mostPushBytes } from './encrypt.ts'

const browser = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}

test('a message is encrypted byte for byte as the example of RFC 8291 has it', () => {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(Buffer.from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw', 'base64url'))
  const salt = Buffer.from('DGv6ra1nlYgDCS1FRnbzlw', 'base64url')
  expect(encryptPush('When I grow up, I want to be a watermelon', browser, { salt, pair }).toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test('the longest message fits into what push services take, and a longer one is refused', () => {
  expect(encryptPush('x'.repeat(mostPushBytes), browser).length).toBeLessThanOrEqual(4_096 + 86)
  expect(() => encryptPush('x'.repeat(mostPushBytes + 1), browser)).toThrow(/at most/)
})
