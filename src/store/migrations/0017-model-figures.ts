/** Calls of models by their time, so that their figures can be told without reading all events. */
export default `
create index events_model_calls on pawl.events (at) where type = 'model.called';
`
