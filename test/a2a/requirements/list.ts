import type { Binding } from '../stage.ts'

export type AnyBinding = Binding | 'GRPC'
export const allBindings: readonly AnyBinding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC']

/** Something that version 1.0.1 of A2A says a server must do, in our words. */
export interface Requirement {
  /** The section of the specification. */
  readonly section: string
  readonly says: string
  /** The bindings it is about; all if left out. */
  readonly on?: readonly AnyBinding[]
  /** Where it is not kept, and why. What is listed here and holds all the same is an error. */
  readonly except?: Partial<Record<AnyBinding, string>>
}

const http = ['JSONRPC', 'HTTP+JSON'] as const
const plain = 'On loopback the daemon speaks without TLS; beyond it, it refuses to start without (server.tls), gRPC included.'

/** Every rule for servers, by a name of ours. What only clients must do is not here, nor what holds only for servers that lack an ability which ours has. */
export const requirements = {
  'send.answers': { section: '3.1.1', says: 'A message is answered with a task or with a message.' },
  'send.ended': { section: '3.1.1', says: 'A message to a task that has ended is refused as an unsupported operation.' },
  'send.media': { section: '3.1.1', says: 'A part of a media type that is not taken is refused as such.' },
  'stream.opens': { section: '3.1.2', says: 'A message can be sent so that its updates come as a stream.' },
  'stream.message': { section: '3.1.2', says: 'A stream that answers with a message holds exactly that one, and closes.' },
  'stream.task': { section: '3.1.2', says: 'A stream of a task begins with the task and closes when the task has ended.' },
  'get.current': { section: '3.1.3', says: 'A task that was begun can be asked for, as it stands.' },
  'get.unknown': { section: '3.1.3', says: 'A task that is not there is not found.' },
  'list.cursor': { section: '3.1.4', says: 'Tasks are listed in pages, each beginning where the one before has ended.' },
  'list.order': { section: '3.1.4', says: 'The task that changed last comes first.' },
  'list.token': { section: '3.1.4', says: 'A page always says where the next begins, and the last one with an empty text.' },
  'list.artifacts': { section: '3.1.4', says: 'Tasks in a list have no artifacts unless they are asked for.' },
  'cancel.answers': { section: '3.1.5', says: 'A task that is cancelled is answered as it stands then.' },
  'cancel.ended': { section: '3.1.5', says: 'A task that has ended cannot be cancelled, and that is said.' },
  'cancel.unknown': { section: '3.1.5', says: 'Cancelling a task that is not there says that it is not found.' },
  'subscribe.first': { section: '3.1.6', says: 'Whoever subscribes is first told the task as it stands.' },
  'subscribe.ends': { section: '3.1.6', says: 'A subscription ends when the task has ended.' },
  'subscribe.ended': { section: '3.1.6', says: 'A task that has ended cannot be subscribed to.' },
  'subscribe.unknown': { section: '3.1.6', says: 'Subscribing to a task that is not there says that it is not found.' },
  'push.create': {
    section: '3.1.7',
    says: 'A client can ask to be told of a task; what it asked for is kept until the task ends or it is taken back.',
  },
  'push.get': { section: '3.1.8', says: 'What a client asked for can be read again, address and all.' },
  'push.unknown': { section: '3.1.8', says: 'What was never asked for is not found.' },
  'push.list': { section: '3.1.9', says: 'All that is asked for of a task is listed.' },
  'push.delete': { section: '3.1.10', says: 'What is taken back is gone, and taking it back twice does no harm.' },
  'push.payload': { section: '4.3.3', says: 'Each notification is a post that holds exactly one of what a stream holds.' },
  'push.authentication': { section: '4.3.3', says: 'A notification carries the credentials that the client gave for it.' },
  'push.delivery': { section: '4.3.3', says: 'Each update is told at least once.' },
  'extended.authentication': { section: '3.1.11', says: 'The extended card is only for whoever has come in.' },
  'extended.card': { section: '3.1.11', says: 'A server that declares an extended card has one.' },
  'mode.waits': { section: '3.2.2', says: 'Unless asked otherwise, the answer to a message waits until the task rests.' },
  'mode.returns': { section: '3.2.2', says: 'If asked to, the answer to a message comes while the task goes on.' },
  'history.length': { section: '3.2.4', says: 'No more messages of the history are shown than were asked for.' },
  'error.token': { section: '3.3.2', says: 'Whoever shows no token, or a bad one, is refused.' },
  'error.right': { section: '3.3.2', says: 'Whoever may not do something is told that.' },
  'error.invalid': { section: '3.3.2', says: 'What is asked for is checked before anything is done.' },
  'error.payload': { section: '3.3.2', says: 'A refusal has a code that programs read and a sentence that people read.' },
  'extension.unknown': { section: '4.6.3', says: 'An extension that is not known here is ignored.' },
  'context.made': { section: '3.4.1', says: 'A context that was made for a message is in the answer.' },
  'context.refused': { section: '3.4.1', says: 'A context that cannot be taken is refused, and no other is put in its place.' },
  'task.id': { section: '3.4.2', says: 'Each new task has an id of its own.' },
  'task.unknown': { section: '3.4.2', says: 'A message to a task that is not there says that it is not found.' },
  'context.inferred': { section: '3.4.3', says: 'A message that names a task alone is of the context of that task.' },
  'context.mismatch': { section: '3.4.3', says: 'A message that names a task and another context than its own is refused.' },
  'order.generated': { section: '3.5.2', says: 'Updates come in the order in which they happened.' },
  'order.streams': { section: '3.5.2', says: 'Every stream of a task is told the same in the same order.' },
  'order.closing': { section: '3.5.2', says: 'Closing one stream changes nothing for the others.' },
  'version.patch': { section: '3.6', says: 'The third number of a version has no say.' },
  'version.unsupported': { section: '3.6.2', says: 'A version that is not spoken here is refused as such.' },
  'version.empty': {
    section: '3.6.2',
    says: 'No version means 0.3.',
    except: {
      'HTTP+JSON':
        'The paths of 0.3 are others, so what comes here without a version can only be of 1.0, and is answered as such.',
    },
  },
  'binding.equal': { section: '5.1', says: 'A task looks the same however it is asked for.' },
  'error.codes': { section: '5.4', says: 'Each error has the code that the table has for it.' },
  'json.names': { section: '5.5', says: 'Fields are named in camelCase, and states by their names in capitals.', on: http },
  'json.times': { section: '5.6.1', says: 'Times are in UTC, as ISO 8601 has them.', on: http },
  'fields.required': {
    section: '5.7',
    says: 'What must be there is there: ids, context, status and its state, artifacts with parts.',
  },
  tls: {
    section: '7.1',
    says: 'What leaves the machine is encrypted.',
    except: { JSONRPC: plain, 'HTTP+JSON': plain, GRPC: plain },
  },
  'authentication.each': { section: '7.4', says: 'Every request shows who makes it; none is let in by an earlier one.' },
  'card.there': { section: '8.1', says: 'There is a card at its well-known place.', on: ['HTTP+JSON'] },
  'card.interfaces': { section: '8.3.1', says: 'The card names every binding with the address where it is spoken.' },
  'card.fields': { section: '4.4.1', says: 'The card has all that a card must have.', on: ['HTTP+JSON'] },
  'card.signed': {
    section: '8.4.1',
    says: 'The card is signed over its canonical form without the signatures.',
    on: ['HTTP+JSON'],
  },
  'card.header': { section: '8.4.2', says: 'What is signed names the algorithm and the key.', on: ['HTTP+JSON'] },
  'rpc.form': { section: '9.1', says: 'JSON-RPC 2.0 over POST, and server-sent events for streams.', on: ['JSONRPC'] },
  'rpc.errors': {
    section: '9.5',
    says: 'What is no JSON, no request, no method or no parameters has the code of JSON-RPC for it.',
    on: ['JSONRPC'],
  },
  'rpc.details': { section: '9.5', says: 'An error of A2A says its reason in the details.', on: ['JSONRPC'] },
  parameters: {
    section: '9.2, 10.2, 11.2',
    says: 'Version and extensions are taken from headers or metadata, whatever their case.',
  },
  'grpc.service': { section: '10.1', says: 'The service of a2a.proto is there with all its methods.', on: ['GRPC'] },
  'grpc.details': { section: '10.6', says: 'An error of A2A says its reason in the details of the status.', on: ['GRPC'] },
  'grpc.stream': { section: '10.7', says: 'Streams are server streams.', on: ['GRPC'] },
  'rest.paths': { section: '11.3', says: 'Each operation has its path and its method.', on: ['HTTP+JSON'] },
  'rest.query': { section: '11.5', says: 'Parameters of a query are named in camelCase.', on: ['HTTP+JSON'] },
  'rest.errors': {
    section: '11.6',
    says: 'An error has a code, a status, a message and details with the reason.',
    on: ['HTTP+JSON'],
  },
  'rest.stream': { section: '11.7', says: 'Streams are server-sent events, each the JSON of one update.', on: ['HTTP+JSON'] },
  'scope.user': { section: '13.1', says: 'Whoever may not look at tasks is shown none, by whatever operation.' },
} as const satisfies Record<string, Requirement>
export type RequirementName = keyof typeof requirements
