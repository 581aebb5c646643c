namespace FastPort.OpcUa.Server;

/// <content>Sampling: the processing of each value before it waits in the queue (OPC 10000-4, 5.13.1.2 and 7.22.2).</content>
internal sealed partial class MonitoredItem
{
    /// <summary>The variable has this value now. On any thread, in the order of the values.</summary>
    /// <param name="value">The value.</param>
    /// <param name="bytes">Its <see cref="ValueBytes"/>: to count them for each item would take long.</param>
    /// <param name="budget">The budget for searching parts.</param>
    public void OnValue(in DataValue value, long bytes, ref PartBudget budget)
    {
        lock (_gate)
        {
            if (!_isActive)
            {
                return;
            }

            bool isAllowed = IsAllowed;
            DataValue selected = Select(isAllowed ? value : VariableNode.Denied, ref budget);
            long held = range is null && isAllowed ? _queue.Counted(bytes) : _queue.BytesOf(selected);
            if (_interval == 0 || !_hasLast)
            {
                Sample(selected, held);
                return;
            }

            long now = _time.GetTimestamp();
            SamplePending(now);
            if (LacksRoom(held))
            {
                // The value that waited for the end of the interval is dropped for it.
                DropPending();
                Sample(selected, held);
                return;
            }

            _pending = selected;
            _pendingBytes = held;
            _pendingSince = now;
            _hasPending = true;
            Charge();
            Mark();
        }
    }

    /// <summary>Reads the value of an item that is polled, or of another attribute.</summary>
    public void Poll()
    {
        DataValue value;
        try
        {
            if (!IsAllowed)
            {
                value = VariableNode.Denied;
            }
            else if (attribute == AttributeId.Value && node is VariableNode variable)
            {
                variable.Read(out value);
            }
            else if (attribute == AttributeId.UserAccessLevel && node is VariableNode asked)
            {
                value = new DataValue(asked.AccessLevelOf(
                    subscription.Allows(asked, isWrite: false), subscription.Allows(asked, isWrite: true)));
            }
            else
            {
                node.TryReadAttribute(attribute, out Variant read);
                value = new DataValue(read);
            }
        }
        catch (Exception e)
        {
            subscription.OnReadThrew(e, node.Id);
            value = new DataValue(default, StatusCodes.BadInternalError);
        }

        lock (_gate)
        {
            if (_isActive)
            {
                var budget = new PartBudget();
                DataValue selected = Select(value, ref budget);
                Sample(selected, _queue.BytesOf(selected));
            }
        }
    }

    // Checked for each value: user, owner and permissions may change.
    private bool IsAllowed =>
        attribute != AttributeId.Value || node is not VariableNode variable || subscription.Allows(variable, isWrite: false);

    // The requested part; a change outside of it does not count. Nothing else holds a part or the result of a callback, so there must be
    // room for it.
    private DataValue Select(in DataValue value, ref PartBudget budget) =>
        range is null && (!IsPolled || _queue.BytesOf(value) == 0) ? value
        : !subscription.Owner.HasRoomBeside(_charged) ? new DataValue(default, StatusCodes.BadOutOfMemory)
        : range is not { } part ? value
        : !budget.TryRead(value.Value, part) ? new DataValue(default, StatusCodes.BadTooManyOperations)
        : AttributeServices.SelectPart(value, part);

    // Intervals are counted from the subscription's epoch, so that those as long as its cycle end with it.
    private void SamplePending(long now)
    {
        if (_interval == 0 || subscription.Slot(_pendingSince, _interval) < subscription.Slot(now, _interval))
        {
            TakePending();
        }
    }

    private void TakePending()
    {
        if (_hasPending)
        {
            (DataValue value, long bytes) = (_pending, _pendingBytes);
            DropPending();
            Sample(value, bytes);
        }
    }

    private void DropPending()
    {
        _pending = default;
        _pendingBytes = 0;
        _hasPending = false;
    }

    // Whether the item may not keep a value that the variable no longer has. Its interval and deadband are then ignored.
    private bool LacksRoom(long bytes) => (bytes != 0 || _lastBytes != 0) && !subscription.Owner.HasRoomBeside(_charged);

    private void Sample(in DataValue value, long bytes)
    {
        DataFilter filter = _filter.Deadband != 0 && LacksRoom(bytes) ? _filter with { Deadband = 0 } : _filter;
        bool isChange = !_hasLast || filter.IsChange(_last, value);
        if (isChange || filter.Deadband == 0)
        {
            // Even an equal value: the previous one must not be shared.
            _last = value;
            _lastBytes = bytes;
        }

        if (isChange)
        {
            _hasLast = true;
            _hasSampled = true;
            Enqueue(value, bytes);
        }

        Charge();
    }

    private void Enqueue(in DataValue value, long bytes)
    {
        DataValue stamped = AttributeServices.Stamp(value, _timestamps, _time.GetUtcNow().UtcDateTime);
        if (bytes == 0 || subscription.Owner.HasRoomBeside(0))
        {
            _queue.Add(stamped, bytes);
        }
        else
        {
            _queue.AddAlone(stamped, bytes);
        }

        Mark();
    }
}
