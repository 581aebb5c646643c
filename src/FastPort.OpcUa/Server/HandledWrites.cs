namespace FastPort.OpcUa.Server;

/// <summary>The values of one Write for handlers of the application, by handler.</summary>
internal sealed class HandledWrites
{
    private readonly List<Group> _groups = [];

    /// <summary>Adds a value. A request has few handlers.</summary>
    /// <param name="handler">The handler of its variable.</param>
    /// <param name="variable">Its variable.</param>
    /// <param name="value">The value.</param>
    /// <param name="place">Its place in the request.</param>
    public void Add(VariableWriteHandler handler, VariableNode variable, in DataValue value, int place)
    {
        Group? group = _groups.Find(candidate => candidate.Handler == handler);
        if (group is null)
        {
            _groups.Add(group = new Group(handler));
        }

        group.Writes.Add(new VariableWrite(variable, value));
        group.Places.Add(place);
    }

    /// <summary>
    /// Begins all handlers at once, on the loop, so that writes of several requests reach a handler in their order. Answers when all have
    /// ended. Nothing awaits this: every failure becomes a status.
    /// </summary>
    /// <param name="call">The request.</param>
    /// <param name="statuses">The statuses of the request's other values; receives those of these.</param>
    public async Task RunAsync(ServiceCall call, StatusCode[] statuses)
    {
        if (RunningCall.TryBegin(call) is not { } running)
        {
            // The other values were written.
            _groups.ForEach(group => group.Places.ForEach(place => statuses[place] = StatusCodes.BadTooManyOperations));
            AttributeServices.Reply(call, statuses);
            return;
        }

        await Task.WhenAll(_groups.ConvertAll(group => RunAsync(call, group, statuses, running.Token))).ConfigureAwait(false);
        if (running.End())
        {
            AttributeServices.Reply(call, statuses);
        }
        else
        {
            call.Fault(StatusCodes.BadRequestCancelledByClient);
        }
    }

    private static async Task RunAsync(ServiceCall call, Group group, StatusCode[] statuses, CancellationToken cancellationToken)
    {
        var own = new StatusCode[group.Writes.Count];
        try
        {
            await group.Handler(group.Writes.ToArray(), own, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            if (!cancellationToken.IsCancellationRequested)
            {
                ServerLog.WriteThrew(call.Server.Logger, e, group.Writes[0].Variable.Id);
            }

            Array.Fill(own, StatusCodes.BadInternalError);
        }

        // Groups have different places.
        for (int i = 0; i < own.Length; i++)
        {
            statuses[group.Places[i]] = own[i];
        }
    }

    private sealed record Group(VariableWriteHandler Handler)
    {
        public List<VariableWrite> Writes { get; } = [];

        public List<int> Places { get; } = [];
    }
}
