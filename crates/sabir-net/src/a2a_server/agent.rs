//! What can be asked of the agent, whatever form it comes in. Callers see their own tasks only.

use a2a::{
    A2AError, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse,
    SendMessageRequest, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, future};
use sabir_host::{Deed, Standing, Visit};
use sabir_ldp::Strategy;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::A2aAgent;
use super::fault::{of_errand, of_gate, unknown};
use super::message::{MAX_ID_BYTES, Said, Wanted, read};
use super::shape::{Shape, context_of, events, states, task};
use crate::caller::Caller;
use crate::errands::{
    ErrandsError, Listing, Movement, OrderVisit, Placed, Placement, Placer, Reach, Step,
};
use crate::heft::Stowed;
use crate::ldp::client::moment;

/// What comes of a task, with the number of its row.
pub(super) type Events = BoxStream<'static, Result<(u64, StreamResponse), A2AError>>;

impl A2aAgent {
    pub(super) async fn send(
        &self,
        caller: &Caller,
        request: SendMessageRequest,
        stowed: Stowed,
    ) -> Result<Task, A2AError> {
        let placed = self.place(caller, &request).await?;
        let configuration = request.configuration.as_ref();
        let shape = Shape::whole(configuration.and_then(|it| it.history_length));
        let is_done = configuration.and_then(|it| it.return_immediately) == Some(true)
            || placed.state.is_over();
        if is_done {
            return Ok(task(&placed, shape));
        }
        // Whoever only waits takes no room.
        let id = placed.id.clone();
        drop((request, placed, stowed));
        let placed = self.wait(&id, self.0.limits.hold).await?;
        Ok(task(&placed, shape))
    }

    pub(super) async fn stream(
        &self,
        caller: &Caller,
        request: SendMessageRequest,
    ) -> Result<Events, A2AError> {
        let placed = self.place(caller, &request).await?;
        let history = request.configuration.as_ref().and_then(|it| it.history_length);
        Ok(self.follow(placed, history))
    }

    pub(super) async fn get(
        &self,
        caller: &Caller,
        request: GetTaskRequest,
    ) -> Result<Task, A2AError> {
        let placed = self.own(caller, &request.id).await?;
        Ok(task(&placed, Shape::whole(check_length(request.history_length)?)))
    }

    pub(super) async fn list(
        &self,
        caller: &Caller,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, A2AError> {
        let wrong = |why: &str| Err(A2AError::invalid_params(why));
        let size = request.page_size.unwrap_or(USUAL_PAGE);
        if !(1..=LARGEST_PAGE).contains(&size) {
            return wrong("pageSize: a number from 1 to 100 is expected");
        }
        let shape = Shape {
            history: check_length(request.history_length)?.or(Some(0)),
            artifacts: request.include_artifacts == Some(true),
        };
        let behind = match request.page_token.as_deref().filter(|it| !it.is_empty()) {
            None => None,
            Some(token) => match read_token(token) {
                Some(behind) => Some(behind),
                None => return wrong("pageToken: it is none of ours"),
            },
        };
        let empty = || ListTasksResponse {
            tasks: Vec::new(),
            next_page_token: String::new(),
            page_size: size,
            total_size: 0,
        };
        let Some(states) = states(&request.status.unwrap_or_default()) else { return Ok(empty()) };
        let after = request.status_timestamp_after.map(|at| at.timestamp_millis());
        let wanted = Listing {
            by: Placer::A2a,
            caller: caller.name.clone(),
            context: request.context_id.filter(|it| !it.is_empty()),
            states,
            changed_since_ms: after.map(|ms| u64::try_from(ms).unwrap_or(0)),
            behind,
            limit: usize::try_from(size).unwrap_or(1),
        };
        let listed = self.0.errands.list(&wanted).await.map_err(|it| of_errand(&it, ""))?;
        let last = listed.tasks.last().filter(|_| listed.has_more);
        Ok(ListTasksResponse {
            next_page_token: last.map(write_token).unwrap_or_default(),
            total_size: i32::try_from(listed.total).unwrap_or(i32::MAX),
            tasks: listed.tasks.iter().map(|placed| task(placed, shape)).collect(),
            ..empty()
        })
    }

    pub(super) async fn cancel(
        &self,
        caller: &Caller,
        request: CancelTaskRequest,
    ) -> Result<Task, A2AError> {
        let id = request.id;
        let placed = self.own(caller, &id).await?;
        if placed.state.is_over() {
            return Err(of_errand(&ErrandsError::Over, &id));
        }
        self.0.errands.cancel(&id).await.map_err(|error| of_errand(&error, &id))?;
        let placed = self.wait(&id, self.0.limits.cancel).await?;
        Ok(task(&placed, Shape::whole(None)))
    }

    pub(super) async fn subscribe(
        &self,
        caller: &Caller,
        request: SubscribeToTaskRequest,
    ) -> Result<Events, A2AError> {
        let placed = self.own(caller, &request.id).await?;
        if placed.state.is_over() {
            return Err(A2AError::unsupported_operation("the task is over; get it instead"));
        }
        Ok(self.follow(placed, None))
    }

    pub(super) async fn create_push(
        &self,
        caller: &Caller,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        let placed = self.own(caller, &config.task_id).await?;
        self.0.couriers.check(&config)?;
        self.0.couriers.add(&placed, config).await
    }

    pub(super) async fn get_push(
        &self,
        caller: &Caller,
        request: GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        let placed = self.own(caller, &request.task_id).await?;
        let all = self.0.couriers.list(&placed.id);
        let found = all.into_iter().find(|it| it.id.as_ref() == Some(&request.id));
        found.ok_or_else(|| unknown(&request.id))
    }

    pub(super) async fn list_push(
        &self,
        caller: &Caller,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, A2AError> {
        let placed = self.own(caller, &request.task_id).await?;
        // A task has few, and they are one page.
        let configs = self.0.couriers.list(&placed.id);
        Ok(ListTaskPushNotificationConfigsResponse { configs, next_page_token: None })
    }

    pub(super) async fn delete_push(
        &self,
        caller: &Caller,
        request: DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), A2AError> {
        let placed = self.own(caller, &request.task_id).await?;
        self.0.couriers.remove(&placed.id, &request.id).await
    }

    /// Takes a message as a task.
    async fn place(
        &self,
        caller: &Caller,
        request: &SendMessageRequest,
    ) -> Result<Placed, A2AError> {
        let configuration = request.configuration.as_ref();
        check_length(configuration.and_then(|it| it.history_length))?;
        let Wanted { said: Said { task, input }, skill, mut message, key } = read(request, caller)?;
        if let Some(id) = message.task_id.as_deref().filter(|id| !id.is_empty()) {
            return Err(self.refuse_more(caller, id, message.context_id.as_deref()).await);
        }
        let push = configuration.and_then(|it| it.task_push_notification_config.clone());
        if let Some(config) = &push {
            self.0.couriers.check(config)?;
        }
        // A message that comes again is not asked for again.
        if let Some(id) = self.0.errands.find(Placer::A2a, &key).await {
            let placed = self.own(caller, &id).await?;
            return self.with_push(placed, push).await;
        }
        if push.is_some() {
            // Whoever is refused has begun nothing.
            self.0.couriers.check_room()?;
        }
        let mut chance =
            moment().ok_or_else(|| A2AError::internal("the system has no random numbers"))?;
        let context = message.context_id.clone().filter(|it| !it.is_empty());
        let context = context.unwrap_or_else(|| chance.fresh_id());
        let arguments = Map::from_iter([
            ("skill".to_owned(), json!(skill)),
            ("context".to_owned(), context.as_str().into()),
            ("task".to_owned(), task.as_str().into()),
            ("input".to_owned(), json!(input)),
        ]);
        let visit = Visit {
            call_id: &format!("a2a-{}", chance.fresh_id()),
            actor: &format!("a2a:{}", caller.name),
            calls_itself: "",
            standing: caller.standing,
            tool: "serve.message",
            arguments: &without_nulls(arguments),
            deed: Deed::Spawn { hosts: &[] },
        };
        self.pass(&visit).await?;
        message.context_id = Some(context.clone());
        let placement = Placement {
            task,
            input,
            skill,
            to: Vec::new(),
            reach: Reach::Anywhere,
            strategy: Strategy::default(),
            budget_tokens: None,
            deadline_secs: None,
            by: Placer::A2a,
            visit: OrderVisit {
                caller: caller.name.clone(),
                is_own: caller.standing == Standing::Own,
                context: Some(context),
                message: serde_json::to_value(&message).ok(),
            },
            key: Some(key),
        };
        let errands = &self.0.errands;
        let id = errands.place(placement).await.map_err(|error| of_errand(&error, ""))?;
        let placed = self.own(caller, &id).await?;
        self.with_push(placed, push).await
    }

    /// A task whose webhook is known, if it came with one.
    async fn with_push(
        &self,
        placed: Placed,
        push: Option<TaskPushNotificationConfig>,
    ) -> Result<Placed, A2AError> {
        if let Some(mut config) = push {
            config.task_id.clone_from(&placed.id);
            self.0.couriers.add(&placed, config).await?;
        }
        Ok(placed)
    }

    /// Asks the gate, which may ask a person. Nobody waits for them longer than for a task.
    async fn pass(&self, visit: &Visit<'_>) -> Result<(), A2AError> {
        let stop = CancellationToken::new();
        let passing = self.0.gate.pass(visit, &stop);
        tokio::pin!(passing);
        let passed = tokio::select! {
            passed = &mut passing => passed,
            () = tokio::time::sleep(self.0.limits.hold) => {
                stop.cancel();
                passing.await
            }
        };
        passed.map_err(|refused| of_gate(&refused))
    }

    /// A task takes one message. Why another one is not for it.
    async fn refuse_more(&self, caller: &Caller, id: &str, context: Option<&str>) -> A2AError {
        match self.own(caller, id).await {
            Err(error) => error,
            Ok(placed) if context.is_some_and(|it| !it.is_empty() && it != context_of(&placed)) => {
                A2AError::invalid_params("message.contextId: the task belongs to another context")
            }
            Ok(placed) if placed.state.is_over() => A2AError::unsupported_operation(
                "the task is over; send a message in its context to begin another",
            ),
            Ok(_) => A2AError::unsupported_operation(
                "the task takes no more messages; send one in its context to begin another",
            ),
        }
    }

    /// A task of this caller. One of somebody else is none.
    async fn own(&self, caller: &Caller, id: &str) -> Result<Placed, A2AError> {
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            return Err(unknown(id));
        }
        let placed = self.0.errands.get(id).await.map_err(|error| of_errand(&error, id))?;
        if placed.is_of(Placer::A2a, &caller.name) { Ok(placed) } else { Err(unknown(id)) }
    }

    /// The task when it is over, or as it is by then.
    async fn wait(&self, id: &str, most: std::time::Duration) -> Result<Placed, A2AError> {
        let mut steps = self.0.errands.follow(id, 0);
        let ended = async {
            while let Some(step) = steps.next().await {
                if let Step { what: Movement::Ended(placed), .. } = step? {
                    return Ok(Some(*placed));
                }
            }
            Ok::<_, ErrandsError>(None)
        };
        let wrong = |error: ErrandsError| of_errand(&error, id);
        match tokio::time::timeout(most, ended).await {
            Ok(Ok(Some(placed))) => Ok(placed),
            Ok(Err(error)) => Err(wrong(error)),
            Ok(Ok(None)) | Err(_) => self.0.errands.get(id).await.map_err(wrong),
        }
    }

    /// The task, and then what happens to it, until it is over.
    fn follow(&self, placed: Placed, history: Option<i32>) -> Events {
        let first = StreamResponse::Task(task(&placed, Shape::whole(history)));
        let first = stream::once(future::ready(Ok((placed.last, first))));
        if placed.state.is_over() {
            return first.boxed();
        }
        let steps = self.0.errands.follow(&placed.id, placed.last);
        let rest = steps.flat_map(move |step| {
            let told: Vec<_> = match step {
                Ok(step) => {
                    events(&placed, &step).into_iter().map(|it| Ok((step.seq, it))).collect()
                }
                Err(error) => vec![Err(of_errand(&error, &placed.id))],
            };
            stream::iter(told)
        });
        first.chain(rest).boxed()
    }
}

fn without_nulls(mut arguments: Map<String, Value>) -> Map<String, Value> {
    arguments.retain(|_, value| !value.is_null());
    arguments
}

fn check_length(length: Option<i32>) -> Result<Option<i32>, A2AError> {
    match length {
        Some(length) if length < 0 => {
            Err(A2AError::invalid_params("historyLength: it is less than nothing"))
        }
        length => Ok(length),
    }
}

fn write_token(placed: &Placed) -> String {
    format!("{}.{}", placed.changed_at_ms, placed.id)
}

fn read_token(token: &str) -> Option<(u64, String)> {
    let (at, id) = token.split_once('.')?;
    (!id.is_empty() && id.len() <= MAX_ID_BYTES).then_some((at.parse().ok()?, id.to_owned()))
}

const USUAL_PAGE: i32 = 50;
const LARGEST_PAGE: i32 = 100;
