/** After a whole `npm test`: records in test/durations.json which test files take long, so that the next run begins with them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { durationsOf, type TestReport } from './test-report.ts'

const root = resolve(import.meta.dirname, '..')
const report = JSON.parse(readFileSync(resolve(root, '.test-results/report.json'), 'utf8')) as TestReport
const seconds = durationsOf(report, (file) => relative(root, file))
writeFileSync(resolve(root, 'test/durations.json'), `${JSON.stringify(seconds, null, 2)}\n`)
