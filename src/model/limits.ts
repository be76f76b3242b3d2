/**
 * Every bound of the product, in one place (CONTRIBUTING.md#house-rules). Whole words, units last.
 * A bound that an operator may change is the default of a setting of the same name.
 */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

export const limits = {
  /** What one HTTP request may cost. */
  http: {
    /** Bodies in general. */
    bodyBytesMax: 1 * mebibyte,
    /** Job writes: the job and its source. */
    jobBodyBytesMax: 4 * mebibyte,
    /** Batched reports of nodes. */
    nodeBodyBytesMax: 4 * mebibyte,
    jsonDepthMax: 64,
    headerBytesMax: 32 * kibibyte,
    urlBytesMax: 16 * kibibyte,
    /** Concurrent connections of one address; 0 is no limit. */
    connectionsPerAddressMax: 100,
    /** The same for the machine itself, where benchmarks and node agents live; 0 is no limit. */
    connectionsPerLoopbackMax: 0,
    connectionsMax: 20_000,
    connectionBacklog: 4096,
    /** Names under which the server may be asked besides its own. */
    allowedHostsMax: 64,
    /** Encodings of rows that are kept, since rows that are read are often read again. */
    encodedRowBytesMax: 64 * kibibyte,
    encodedRowsBytesMax: 16 * mebibyte,
    headersTimeoutMs: 10 * second,
    bodyTimeoutMs: 30 * second,
    /** How often connections are looked through for those that are too slow. */
    timeoutCheckMs: 500,
    keepAliveTimeoutMs: 75 * second,
    /** Answers below this size are not worth compressing. */
    compressBytesMin: 1024,
    /** How long requests that are under way may go on when the server stops. */
    stopGraceMs: 5 * second,
  },

  /** Blocking queries. */
  watch: {
    parkedMax: 20_000,
    /** Of these, queries that show no token. */
    parkedAnonymousMax: 2_000,
    waitDefaultMs: 5 * minute,
    waitMaxMs: 10 * minute,
    /** Up to wait divided by this is added at random. */
    jitterDivisor: 16,
    retryAfterSeconds: 1,
  },

  /** What is collected because nothing needs it any more. */
  garbage: {
    intervalMs: 5 * minute,
    jobAgeMs: 4 * hour,
    evaluationAgeMs: 1 * hour,
    batchEvaluationAgeMs: 24 * hour,
    deploymentAgeMs: 1 * hour,
    nodeAgeMs: 24 * hour,
    /** Deleted by one transaction. */
    rowsPerTransactionMax: 64,
    /** Transactions that wait at the same time to become durable. */
    writesMax: 16,
    /** Looked at before the clock is looked at, and how long a look may last. */
    rowsPerStep: 64,
    rowsPerSliceMax: 1024,
    sliceMs: 2,
    /** What an operator may set. */
    intervalMinMs: 1 * second,
    ageMaxMs: 365 * 24 * hour,
  },

  /** Configuration entries. */
  config: {
    /** Of an entry, as it is sent. */
    entryBytesMax: 512 * kibibyte,
    /** Of all kinds, everywhere. */
    countMax: 100_000,
    /** Source: docs/behaviour/configuration.md#forms-of-an-entry. */
    metaPairsMax: 64,
    metaKeyLengthMax: 128,
    metaValueLengthMax: 512,
    descriptionLengthMax: 512,
    /** Of what a question about intentions names: services, a path, a header. */
    questionLengthMax: 1024,
    /** Services that are matched with intentions at a time. */
    matchedMax: 16,
    /** Conflicts that the sentence of a refusal tells. */
    describedMax: 10,
    /** Items of any list in an entry, and members of any object. */
    itemsMax: 1024,
    /** Of one PEM text, and the certificates in one. */
    pemLengthMax: 256 * kibibyte,
    chainLengthMax: 16,
    rsaKeyBitsMin: 2048,
    rsaKeyBitsMax: 8192,
  },

  /** What the routing entries of a service come to. */
  discoveryChain: {
    /** Routes, splits, redirects and failover targets of one chain. */
    partsMax: 10_000,
    /** Splitters one within the other; redirects one after the other. */
    depthMax: 64,
    /** Chains that are made anew to see whether a change of entries breaks one. */
    checkedMax: 10_000,
  },

  /** Clusters that peer. Source: docs/behaviour/peering.md. */
  peering: {
    countMax: 1000,
    addressesMax: 16,
    tokenLengthMax: 64 * kibibyte,
    heartbeatMs: 15 * second,
    /** A stream on which nothing comes for that long has ended. */
    silenceMaxMs: 2 * minute,
    dialTimeoutMs: 2 * second,
    /** All attempts to exchange the secrets of a token. */
    establishTimeoutMs: 3 * second,
    retryMinMs: 150,
    retryMaxMs: 15 * second,
    /** Of one frame of a stream. */
    frameBytesMax: 1 * mebibyte,
    /** How deep it is nested, its lists and objects, and the members of any of them. */
    frameDepthMax: 16,
    frameListsMax: 4096,
    frameMembersMax: 2048,
    /** Changes that are under way to a peer and not acknowledged. */
    window: 4,
    /** Instances in one change; as many of its lists together, services and removals too. */
    instancesPerChangeMax: 256,
    /** About how much of it; and the largest instance that a peer is told of. */
    changeBytesMax: 512 * kibibyte,
    instanceBytesMax: 256 * kibibyte,
    /** Instances that changed while the window was full; when there are more, all is told again. */
    changedInstancesMax: 8192,
    /** Frames of a peer that wait to be taken in. */
    framesWaitingMax: 16,
    importedInstancesMax: 200_000,
    importedServicesMax: 20_000,
    /** About how much of one peer is kept. */
    importedBytesMax: 256 * mebibyte,
    /** Rows removed by one transaction when a peering goes. */
    rowsPerTransactionMax: 64,
    /** From the opening of a stream until both sides have shown who they are. */
    handshakeTimeoutMs: 5 * second,
    /** Frames and bytes of a handshake, by whoever may come. */
    handshakeFramesMax: 8,
    handshakeFrameBytesMax: 64 * kibibyte,
    /** Streams under way on which nobody has shown yet who they are. */
    strangersMax: 256,
    /** How long a peering that is deleted waits for the other cluster to hear of it. */
    farewellMs: 10 * second,
    /** How long it is tried from then on, when the record is gone already. */
    farewellKeptMs: 24 * hour,
    /** What a peer may send at once, and for how long from then on. */
    framesBurst: 2000,
    framesPerSecond: 500,
    /** More than a peer may export (`importedBytesMax`): all of it is told when a stream opens. */
    bytesBurst: 384 * mebibyte,
    bytesPerSecond: 16 * mebibyte,
    /** What a peer that does not read may leave lying here. */
    unreadBytesMax: 16 * mebibyte,
    /** How often a peer may open its stream at once, and how soon again. */
    opensBurst: 20,
    opensRefillMs: 1 * second,
    /** How often a peer may tell other addresses at once, and how soon again. */
    addressesBurst: 8,
    addressesRefillMs: 15 * second,
    /** Of a sentence that one cluster tells another. */
    reasonLengthMax: 256,
  },

  list: {
    perPageMax: 10_000,
    nextTokenLengthMax: 1024,
    filterLengthMax: 4096,
    /** How long making a list may take before it lets others go first, and how long from then on. */
    atOnceMs: 3,
    sliceMs: 1,
    /** Rows between two looks at the clock. */
    rowsPerStep: 16,
  },

  /** What one refusal tells; a body may hold a million faults. */
  fault: {
    listedMax: 100,
    quotedLengthMax: 64,
    warningsMax: 100,
    /** Those that are looked for: an answer lists fewer, and tells how many more there are. */
    warningsFoundMax: 1000,
  },

  /** How many different reasons one sentence names. */
  explanation: { reasonsMax: 10 },

  names: {
    lengthMax: 256,
    serviceLengthMax: 63,
    actionLengthMax: 128,
    descriptionLengthMax: 1000,
    checkNotesLengthMax: 255,
  },

  job: {
    /** Sum of the groups' counts. */
    countMax: 50_000,
    groupsMax: 1000,
    tasksPerGroupMax: 100,
    priorityMin: 1,
    priorityMax: 100,
    priorityDefault: 50,
    versionsKept: 6,
    /** Versions with a tag, which are kept for as long as they have it. */
    tagsMax: 100,
    tagLengthMax: 128,
    /** Named by one request that asks how some jobs fare. */
    statusesMax: 1000,
    submissionsKept: 6,
    submissionBytesMax: 1 * mebibyte,
    /**
     * What a submission may ask for. A version only rises, and has to stay a number that can be
     * counted up for ever.
     */
    versionMax: 2 ** 48,
    /** Of a job, a group or a task each; all of it is put into the environment of the tasks. */
    metaMax: 1000,
    metaTextLengthMax: 64 * kibibyte,
    /** Patterns of constraints whose validity is remembered. */
    patternsRemembered: 1000,
  },

  /** What is kept of whoever scales a group. */
  scaling: { eventsKept: 20, textLengthMax: 1024, metaLengthMax: 8 * kibibyte },

  jobPolicy: {
    nameLengthMax: 128,
    ruleLengthMax: 4096,
    messageLengthMax: 1024,
    /** What the sentence of a refusal tells; its faults tell more. */
    describedMax: 10,
    /** Each is held against every job that is registered, in the transaction that does. */
    countMax: 256,
  },

  /** What a registration would do. */
  plan: {
    /** Plans that can still be carried out: how many, their size together, and how long. */
    keptMax: 256,
    keptBytesMax: 64 * mebibyte,
    /** About what one of their changes takes. */
    changeBytes: 1 * kibibyte,
    keptMs: 30 * minute,
    /** Carried out exactly, it is one transaction. A larger one is shown, and is not kept. */
    exactChangesMax: 2000,
    /** Changes that one answer tells. */
    shownMax: 2000,
    /** Plans that wait for their turn. */
    waitingMax: 64,
    /** How often one is decided again when the state moves while it is carried out. */
    attemptsMax: 5,
  },

  dispatch: {
    /** Decoded. Source: docs/contract/jobs.md#limits. */
    payloadBytesMax: 16_384,
  },

  periodic: {
    specsMax: 16,
    specLengthMax: 256,
    /** Launches that one transaction makes, and after how long it makes no more. */
    launchesPerTransactionMax: 32,
    sliceMs: 2,
    /** Deadlines are looked at this often at least, as the machine's clock may jump. */
    recheckMs: 10 * second,
    /** Launches that could not be written down, or for which there is no room, are tried again. */
    retryMs: 1 * second,
    /** Launches by hand in one second have the ids of the seconds that follow, up to so many. */
    forcedAheadSecondsMax: 60,
  },

  jobFile: {
    /** UTF-16 code units of one that a server reads, and of its variables; commands take 1 Mi. */
    textLengthMax: 256 * kibibyte,
    faultsMax: 20,
  },

  task: {
    cpuMhzMin: 1,
    memoryMbMin: 10,
    diskMbMin: 10,
    eventsKept: 10,
    eventMessageLengthMax: 1024,
    killTimeoutMaxMs: 30 * second,
    logFilesMax: 1000,
    logFileMbMax: 10_000,
    /** Users and groups of the system. */
    ownerIdMax: 2 ** 32 - 2,
    /** One variable with its name, as the kernel takes it. */
    variableBytesMax: 128 * kibibyte - 1,
    /** Processes and threads of one task together, where the system can hold it to that. */
    processesMax: 4096,
  },

  /** What rendering the templates of a task may cost. */
  template: {
    textLengthMax: 256 * kibibyte,
    nestingMax: 100,
    stepsMax: 1_000_000,
    callStepsMax: 250_000,
    sizeMax: 16 * mebibyte,
    outputLengthMax: 4 * mebibyte,
    depthMax: 200,
    dependenciesMax: 256,
    /** How long rendering goes on before others get their turn. */
    sliceMs: 3,
    /** How long further changes are waited for where a template does not say. */
    waitMinMs: 5 * second,
    waitMaxMs: 4 * minute,
    /** Reading services and variables. */
    pollWaitMs: 5 * minute,
    retriesMax: 12,
    retryMinMs: 250,
    retryMaxMs: 1 * minute,
    /** Between two questions of which the first changed nothing. */
    idleMs: 1 * second,
    /** When the task is told what is missing, and at most how long until it is told again. */
    missingFirstMs: 3 * second,
    missingMaxMs: 10 * minute,
    missingToldMax: 3,
    /** Files that templates read are looked at this often. */
    filePollMs: 5 * second,
    fileBytesMax: 4 * mebibyte,
    /** What a change script prints beyond this is not kept for the event. */
    scriptOutputMax: 512,
  },

  /** Changes of status that are remembered of one. */
  allocation: {
    statesKept: 10,
    /** Marked in one transaction where a whole job is. */
    markedPerTransactionMax: 64,
  },

  /** Registrations of services, as nodes tell of them. */
  service: {
    /** Allocations that one report tells of, and about how many bytes of them. */
    batchMax: 1000,
    batchBytes: 512 * kibibyte,
    perAllocationMax: 1000,
    /** Tags, and entries of meta, of one instance. */
    entriesMax: 1000,
    textLengthMax: 4096,
    /** Instances that one request may have chosen for it. */
    chosenMax: 10_000,
    /** What changes within this time is told together. */
    batchDelayMs: 50,
    retryMinMs: 100,
    retryMaxMs: 10 * second,
    /** How long a task that ends waits for the servers to know that its services are gone. */
    farewellMs: 500,
  },

  /** Checks of services, on one node. */
  check: {
    /** That are under way at the same time: all, of one allocation, and as commands in tasks. */
    concurrentMax: 256,
    perAllocationMax: 32,
    scriptsMax: 32,
    /** The first one is somewhere in this time, that not all begin together. */
    startSpreadMs: 1 * second,
    outputBytesMax: 4 * kibibyte,
  },

  network: {
    portMax: 65_535,
    dynamicPortMin: 20_000,
    dynamicPortMax: 32_000,
  },

  docker: {
    pingTimeoutMs: 5 * second,
    versionTimeoutMs: 30 * second,
    /** How often a node looks whether its container runtime is there and well. */
    refreshMs: 15 * second,
    /** While a runtime is away it is asked so often whether it is back. */
    reconnectMs: 1 * second,
    /** A task whose runtime has not answered for so long is given up, and its container later removed. */
    unreachableTimeoutMs: 5 * minute,
    pullTimeoutMs: 5 * minute,
    /** A download that goes on is told of so often: a task keeps few events. */
    pullProgressIntervalMs: 30 * second,
    logRetryMs: 1 * second,
    /** Where a runtime cannot be followed it is asked so often for new output, or less often. */
    logPollMs: 250,
    logPollMaxMs: 5 * second,
    /** How often it is noted how much of a container's output is written. */
    logNoteIntervalMs: 1 * second,
    /** What a runtime keeps of a container's output, as a buffer between it and the task's logs. */
    logBufferMb: 100,
  },
  node: {
    eventsKept: 10,
    attributesMax: 2000,
    attributeLengthMax: 4096,
    /** What one machine may say that it has: far beyond any there is, and short of absurd. */
    cpuMhzMax: 100_000_000,
    coresMax: 65_536,
    memoryMbMax: 1_000_000_000,
    diskMbMax: 1_000_000_000_000,
    networksMax: 256,
    driversMax: 256,
    /** Of what a node says of a driver, in explanations and warnings. */
    driverReasonLengthMax: 200,
    hostVolumesMax: 1024,
    hostVolumePathLengthMax: 4096,
    /** Makes of devices, and pieces of all makes together. */
    devicesMax: 256,
    deviceInstancesMax: 1024,
    deviceAttributesMax: 256,
    reservedPortsLengthMax: 4096,
    heartbeatTtlMinMs: 10 * second,
    heartbeatGraceMs: 10 * second,
    /** Heartbeats are spread so that the servers see at most this many in a second. */
    heartbeatsPerSecondMax: 50,
    /** After a change of leader every node gets this long. */
    heartbeatFailoverTtlMs: 5 * minute,
    /** A missed heartbeat that could not be written down is taken up again after this time. */
    missedRetryMs: 1 * second,
    registrationRetryMs: 15 * second,
    /** How long a node waits for an answer to its heartbeat before it turns to another server. */
    answerTimeoutMs: 5 * second,
    allocationsPollWaitMs: 5 * minute,
    statusBatchDelayMs: 200,
    statusBatchSizeMax: 1000,
    terminalAllocationsKept: 50,
    /** What could not be written to the disk of a node is tried again after this time. */
    saveRetryMs: 5 * second,
    /** Whether allocations have run for long enough is looked at this often, as clocks may jump. */
    runDeadlineRecheckMs: 1 * minute,
    /**
     * Where users of allocations come from: beyond what Linux systems give to users, services,
     * containers and machines by themselves, and short of the numbers that some take for negative.
     */
    uidRange: { start: 1_879_048_192, count: 2 ** 20 },
    /** Labels that say why a node is drained. */
    drainMetaMax: 64,
    drainMetaTextLengthMax: 512,
    drainDeadlineMaxMs: 100 * 24 * hour,
    /** What allocations on draining nodes are to do is looked at this often at most. */
    drainPassMs: 1 * second,
    /** How long one look may hold others up. */
    drainSliceMs: 5,
    /** Deadlines are looked at this often at least, as the machine's clock may jump. */
    drainRecheckMs: 1 * minute,
    /** How long a node may take to say that it has begun what it was told to do. */
    commandTimeoutMs: 15 * second,
    /** What a node may answer to one question. */
    answerBytesMax: 1 * mebibyte,
  },

  /** Tokens that bring nodes in. */
  introduction: {
    ttlMinMs: 1 * minute,
    ttlDefaultMs: 1 * hour,
    ttlMaxMs: 720 * hour,
    usesMax: 100_000,
    countMax: 10_000,
  },

  nodePool: {
    nameLengthMax: 128,
    descriptionLengthMax: 256,
    metaMax: 64,
    metaTextLengthMax: 512,
    /** Nodes bring pools along by naming them. */
    countMax: 10_000,
  },

  evaluation: {
    /** Open evaluations; job registrations are refused from then on. */
    queueMax: 100_000,
    /** Blocked evaluations that are tried at the same time when there is room again. */
    releaseBatchMax: 32,
    /** Nodes that a job waits for one by one; more are waited for together. */
    nodesAwaitedMax: 256,
    /** Nodes with new room that are looked at together. */
    offersPerRoundMax: 32,
    deliveryMax: 3,
    nackFirstDelayMs: 1 * second,
    nackDelayMs: 20 * second,
    failedFollowUpDelayMs: 1 * minute,
    failedFollowUpJitterMs: 5 * minute,
    /** Deleted by one request that names them. */
    deletedMax: 7281,
    /** Rows that a request which deletes by a filter looks at before it lets others go first. */
    deletedPageRows: 1000,
    /** Shown with one that is read, of those that led to it or follow from it. */
    relatedMax: 256,
    /** How often an evaluation whose plans did not fit is tried again. */
    conflictRetryMs: 1 * minute,
    planAttemptsServiceMax: 5,
    planAttemptsBatchMax: 2,
  },

  deployment: {
    /** What turns healthy within this time is one step of its deployment. */
    batchMs: 1 * second,
    /** How long looks at deployments hold others up. */
    sliceMs: 1,
    /** Deadlines are looked at this often at least, as the machine's clock may jump. */
    recheckMs: 1 * minute,
  },

  scheduler: {
    /** After how long scheduling lets requests go first. */
    sliceMs: 1,
    /** The same in steps, for the simulator, whose clock stands still meanwhile. */
    sliceSteps: 128,
    scoredNodesReported: 5,
    /** Shapes of groups for which the nodes' scores are kept from one evaluation to the next. */
    sheetsKept: 64,
    /** Newest decisions whose placements can be explained on the very state they were made on. */
    decisionsKept: 64,
    /** Rows that may change before such a state is let go: it holds on to all of them. */
    decisionRowsMax: 20_000,
    /** Explanations that wait for their turn. */
    explanationsMax: 64,
    plansQueuedMax: 1024,
    /**
     * Allocations that one transaction of a plan writes, unless the plan is all or nothing. Each makes
     * some 15 KB of objects, and as soon as the collector marks that is up to 5 ms every 64 KB.
     */
    planRowsMax: 4,
  },

  /**
   * What a node fetches for its tasks. The first five are what the agent's configuration may
   * change. Source: docs/guides/artifacts.md#limits.
   */
  artifact: {
    httpTimeoutMs: 30 * minute,
    gitTimeoutMs: 30 * minute,
    /** What one download may bring. */
    downloadBytesMax: 100e9,
    /** What one archive, repository or directory may hold. */
    filesMax: 4096,
    unpackedBytesMax: 100e9,
    /** How many times larger than it came what is unpacked may be; the first bytes do not count. */
    ratioMax: 200,
    ratioFreeBytes: 64 * mebibyte,
    /** A server that says nothing for so long is given up. */
    idleTimeoutMs: 60 * second,
    connectTimeoutMs: 10 * second,
    redirectsMax: 10,
    /** How often a broken download goes on where it was, and after what time at first. */
    resumesMax: 4,
    resumeDelayMs: 1 * second,
    /** Of one node. */
    parallelMax: 4,
    /** What a directory of a repository or an archive may lie below. */
    depthMax: 64,
    /** Text of a link in an archive. */
    linkLengthMax: 4096,
    /** How often the size of what a program fetches is looked at. */
    measureMs: 500,
    /** Memory of programs that unpack. */
    unpackMemoryMb: 256,
    programOutputMax: 4096,
  },

  /** What an allocation takes over from the one before it. */
  disk: {
    bytesMax: 100e9,
    filesMax: 1_000_000,
    depthMax: 256,
    attemptsMax: 3,
    retryDelayMs: 1 * second,
  },

  /** The stream a node opens to the server, and what runs over it. */
  /** Streams of what happens. */
  events: {
    /** Changes of records that are kept for readers that come later, or read slowly. A change holds 2 to 3 KB. */
    changesKept: 8_000,
    readersMax: 512,
    topicsMax: 64,
    perFrameMax: 100,
    heartbeatMs: 30 * second,
  },

  stream: {
    perNodeMax: 256,
    creditBytes: 256 * kibibyte,
    frameBytesMax: 64 * kibibyte,
    logFollowersPerTaskMax: 32,
    pingIntervalMs: 15 * second,
    pongTimeoutMs: 30 * second,
    reconnectMinMs: 250,
    reconnectMaxMs: 15 * second,
    openTimeoutMs: 10 * second,
  },

  /** What is read of the files of allocations. */
  files: {
    pathLengthMax: 4096,
    /** Directories between an allocation's own and a file. */
    depthMax: 128,
    /** Links on the way to a file, as the kernel counts them. */
    linksMax: 40,
    /** Files that one page of a list of a directory has. */
    listedMax: 2000,
    /** Names that are looked at for one page; a directory with more cannot be listed. */
    namesMax: 1_000_000,
    followersPerAllocationMax: 32,
  },

  /** What a node tells of what it and its tasks use. */
  statistics: {
    /** Of what passes in this time, rates are made, and for how long they are used again. */
    sampleMs: 250,
    sampleAgeMaxMs: 10 * second,
    /** Processes of a task that are shown one by one. */
    processesShownMax: 100,
    /** Processes that are looked at before others get their turn. */
    processesPerStep: 64,
  },

  /** Commands that people run in tasks. */
  exec: {
    sessionsPerServerMax: 512,
    sessionsPerNodeMax: 64,
    sessionsPerTaskMax: 16,
    /** All words of a command together, as JSON. */
    commandLengthMax: 12 * kibibyte,
    commandWordsMax: 1024,
    /** What may be under way on one hop of a session. */
    creditBytes: 64 * kibibyte,
    /** Of the command's output in one message. */
    messageDataBytesMax: 1024,
    /** Of one message from a client. */
    messageBytesMax: 256 * kibibyte,
    /** Messages that wait for a command, or a person, that does not read. */
    queuedBytesMax: 256 * kibibyte,
    terminalSizeMax: 65_535,
    /** Until the message with the token. */
    handshakeTimeoutMs: 10 * second,
    /** Until the node says that the command runs. */
    startTimeoutMs: 15 * second,
    heartbeatIntervalMs: 10 * second,
    /** A client that neither reads nor says anything for so long is gone. */
    silentTimeoutMs: 60 * second,
    /** How soon after the end of a command what it left is looked for, for all that ended meanwhile. */
    sweepDelayMs: 200,
    /** How long a command gets to end when nobody wants it any more. */
    endGraceMs: 1 * second,
  },

  supervisor: {
    messageBytesMax: 1 * mebibyte,
    tasksMax: 2000,
    /** Exits kept for an agent that is away. */
    exitsKept: 10_000,
    /** On a machine that has much else to do, as when all of it starts. */
    startTimeoutMs: 30 * second,
    pipeBufferBytes: 64 * kibibyte,
  },

  restart: {
    /** Added to a task's restart delay, as a fraction of it, so that tasks do not start in step. */
    jitterFraction: 0.25,
    delayMaxMs: 24 * hour,
  },

  /** Sizes in bytes count the encoded form. */
  state: {
    /** Deletes that one index remembers one by one; older ones count for the whole index. */
    marksPerIndex: 8_192,
    /** Values that many rows share, of which is known in which row the log has them. */
    sharedValues: 64,
    /** An append holds whole transactions up to about this size. */
    batchBytes: 512 * kibibyte,
    /** Transactions, and their bytes, that may wait to become durable. */
    waitingWrites: 65_536,
    waitingBytes: 64 * mebibyte,
    /** A write of the server itself that found the queue full is tried again after this time. */
    fullRetryMs: 1 * second,
    /** Ranges that one footprint names in one index before it watches the whole index. */
    rangesPerIndex: 1_024,
    /** One part of a snapshot; encoding one is a slice of about a millisecond. */
    snapshotPartBytes: 256 * kibibyte,
    /** A snapshot is taken when the log exceeds this and `logPerSnapshot` times the last one. */
    logBytes: 64 * mebibyte,
    logPerSnapshot: 2,
  },

  acl: {
    /** UTF-16 code units of a policy's rules. */
    rulesLengthMax: 512 * kibibyte,
    policyNameLengthMax: 128,
    /** Policies, roles or identities of one token or role, each. */
    linksMax: 1000,
    datacentersMax: 256,
    /** Of one request that asks what a token may do. */
    questionsMax: 64,
    tokenTtlMinMs: 1 * minute,
    tokenTtlMaxMs: 24 * hour,
    /** Expired tokens are gone at once; their rows go in slices this large. */
    reapedPerTransactionMax: 1000,
    reapRetryMs: 10 * second,
  },

  /** Configurations of logins. */
  authMethod: {
    configTextLengthMax: 2048,
    /** Certificates may come as a chain. */
    pemLengthMax: 64 * kibibyte,
    claimMappingsMax: 128,
    namespaceRulesMax: 128,
  },

  bindingRule: { selectorLengthMax: 4096, bindNameLengthMax: 512 },

  /** Who logs in is nobody yet: all that a login may cost is bounded. */
  aclLogin: {
    bearerLengthMax: 64 * kibibyte,
    metaEntriesMax: 64,
    metaTextLengthMax: 512,
    /** Failures of one address (and of one method) before it has to wait. */
    failuresBurst: 20,
    failureRefillMs: 3 * second,
    methodFailuresBurst: 400,
    methodFailureRefillMs: 100,
    addressesKept: 10_000,
    concurrentMax: 256,
    leewayDefaultMs: 150 * second,
    clockSkewDefaultMs: 60 * second,
  },

  /** Calls to identity providers. */
  outbound: {
    timeoutMs: 10 * second,
    answerBytesMax: 1 * mebibyte,
    /** How long fetched keys serve, and how soon an unknown key may cause another fetch. */
    keysAgeMs: 10 * minute,
    keysRefetchMs: 30 * second,
    providersKept: 1000,
  },

  /** Logins that a browser is to finish. */
  oidcSession: { keptMax: 4096, ageMs: 10 * minute, startsBurst: 60, startRefillMs: 1 * second },

  audit: { queuedBytesMax: 16 * mebibyte, textLengthMax: 512 },

  variable: {
    pathLengthMax: 512,
    /** Names and texts of one variable together. Source: docs/guides/variables.md#limits. */
    itemsBytesMax: 64 * kibibyte,
    itemsMax: 1000,
    nameLengthMax: 256,
    countMax: 100_000,
  },

  /** Signed tokens that say which workload somebody is. */
  identity: {
    /** Asked for by one request of a node. */
    batchMax: 100,
    tokenLengthMax: 16 * kibibyte,
    /** Shorter and longer wishes are brought to these. */
    ttlMinMs: 30 * second,
    ttlMaxMs: 30 * 24 * hour,
    /** Of a token that nobody gave a time, where it can be renewed. */
    ttlDefaultMs: 1 * hour,
    /** How far the clocks of two servers may be apart. */
    clockSkewMs: 60 * second,
    extraClaimsMax: 64,
    /** Verified tokens, and compiled rules of workloads, that are remembered. */
    verifiedMax: 16_384,
    /** Requests of a node that arrive within this time are sent together. */
    gatherMs: 5,
    retryMinMs: 250,
    retryMaxMs: 15 * second,
  },

  keyring: {
    keysMax: 64,
    /** Rows sealed anew in one transaction of a rotation. */
    rowsPerTransactionMax: 500,
    /** About as much sealed text; it is the rows' number that counts where they are small. */
    bytesPerTransactionMax: 256 * kibibyte,
  },
} as const;
