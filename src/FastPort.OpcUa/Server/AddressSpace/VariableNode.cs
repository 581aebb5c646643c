using System.Diagnostics;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Server;

/// <summary>
/// A variable (OPC 10000-3, 5.6). Its owner sets <see cref="Value"/> whenever it changes, from any thread. Reading and writing a number
/// allocates nothing.
/// </summary>
public sealed partial class VariableNode : Node
{
    private const byte CurrentRead = 1;
    private const byte CurrentWrite = 2;

    // A status and a source timestamp may be written with the value, and are stored.
    private const byte StatusAndTimestampWrite = 0x60;
    private const int AnyRank = -2;

    // The value that clients get for a variable that is not readable.
    private static readonly DataValue NotReadable = new(default, StatusCodes.BadNotReadable);

    /// <summary>The value that clients get for a variable that they may not read.</summary>
    internal static readonly DataValue Denied = new(default, StatusCodes.BadUserAccessDenied);

    private readonly Lock _gate = new();
    private volatile bool _isReadable = true;
    private volatile bool _isWritable;
    private volatile VariableWriteHandler? _onWrite;

    // One object, so that a reader never sees the ends of two ranges.
    private volatile Tuple<double, double>? _euRange;

    // Odd while the value is being written; a reader that sees it change reads again. Writers hold the gate.
    private int _version;
    private DataValue _value;

    // Whether the value is an array that was created here and is not shared: then its parts can be replaced in place. Under the gate.
    private bool _isPrivate;

    // The ValueBytes of the value, which take long to count; negative until they are first needed. Under the gate.
    private long _valueBytes;

    internal VariableNode(NodeId id, QualifiedName browseName, BuiltInType type, NodeId dataType, int valueRank)
        : base(id, NodeClass.Variable, browseName)
    {
        Type = type;
        DataType = dataType;
        ValueRank = valueRank;
    }

    /// <summary>The built-in type of the value; Null if it may be of any type.</summary>
    public BuiltInType Type { get; }

    /// <summary>The data type; the built-in type's own unless another one was given.</summary>
    public NodeId DataType { get; }

    /// <summary>-1 for a scalar, -2 for any value, otherwise the number of dimensions (OPC 10000-3, 5.6.2).</summary>
    public int ValueRank { get; }

    /// <summary>Whether clients may write the value. Its owner may change it, from any thread.</summary>
    public bool IsWritable
    {
        get => _isWritable;
        set
        {
            lock (_gate)
            {
                if (_isWritable != value)
                {
                    _isWritable = value;
                    TellAccess();
                }
            }
        }
    }

    /// <summary>
    /// Whether clients may read the value. Otherwise their reads and subscriptions are answered with BadNotReadable. Its owner may change
    /// it, from any thread. Defaults to true.
    /// </summary>
    public bool IsReadable
    {
        get => _isReadable;
        set
        {
            lock (_gate)
            {
                if (_isReadable != value)
                {
                    _isReadable = value;
                    Tell();
                    TellAccess();
                }
            }
        }
    }

    /// <summary>
    /// Called instead of the stored value: for each read, on the loop of the client's connection, and for each sample of a monitored item,
    /// on a thread of the pool. It must not block, and may be called on several threads at a time. Null for the stored value. Set when the
    /// variable is added.
    /// </summary>
    public Func<DataValue>? OnRead { get; internal init; }

    /// <summary>
    /// Handles the values that clients write, instead of storing them; null to store them. Called if <see cref="IsWritable"/> is true. The
    /// variable's owner may change it from any thread; while the server runs, before the variable becomes writable, so that no write is
    /// stored. Defaults to null.
    /// </summary>
    public VariableWriteHandler? OnWrite
    {
        get => _onWrite;
        set => _onWrite = value;
    }

    /// <summary>The range of the value in normal operation; null for a variable without one.</summary>
    internal (double Low, double High)? EuRange
    {
        get => _euRange is { } range ? (range.Item1, range.Item2) : null;
        set => _euRange = value is { } range ? Tuple.Create(range.Low, range.High) : null;
    }

    /// <summary>The value with its status and times. A value without a source timestamp gets the current time.</summary>
    /// <exception cref="ArgumentException">The types of the value and the variable differ.</exception>
    public DataValue Value
    {
        get
        {
            ReadStored(out DataValue value);
            return value;
        }

        set
        {
            if (!Accepts(value.Value))
            {
                throw new ArgumentException(
                    $"The variable {Id} has type {Type}, rank {ValueRank}; the value is a {value.Value.Type} with "
                    + $"{(value.Value.IsArray ? Math.Max(value.Value.Dimensions.Length, 1) : 0)} dimensions.",
                    nameof(value));
            }

            Set(value.SourceTimestamp == default ? value with { SourceTimestamp = DateTime.UtcNow } : value);
        }
    }

    /// <summary>Whether a value has the variable's type and rank, or is null. An array without elements has no dimensions.</summary>
    internal bool Accepts(in Variant value) =>
        AcceptsPart(value)
        && (!value.IsArray || ValueRank == AnyRank || Math.Max(value.Dimensions.Length, 1) == ValueRank
            || value.Reference is not Array { Length: > 0 });

    /// <summary>
    /// Whether a value may be a part of the variable's: as <see cref="Accepts"/>, but for the number of dimensions, which depends on the
    /// range.
    /// </summary>
    internal bool AcceptsPart(in Variant value) =>
        value.IsNull
        || ((value.Type == Type || Type == BuiltInType.Null) && (value.IsArray == ValueRank >= 0 || ValueRank == AnyRank));

    /// <summary>Sets the value, whose type was checked.</summary>
    internal void Set(in DataValue value)
    {
        lock (_gate)
        {
            SetAndTell(value);
        }
    }

    /// <summary>Sets the value, whose type was checked, unless the request has already exceeded its budget for monitored items.</summary>
    internal bool TrySet(in DataValue value, ref PartBudget budget)
    {
        lock (_gate)
        {
            long bytes = -1;
            if (_watchers is { Count: > 0 } && !budget.TryTell(_watchers.Count, bytes = ValueBytes.Of(value.Value)))
            {
                return false;
            }

            SetAndTell(value, bytes);
            return true;
        }
    }

    /// <summary>The <see cref="ValueBytes"/> of the stored value.</summary>
    internal long StoredBytes
    {
        get
        {
            lock (_gate)
            {
                return CountBytes();
            }
        }
    }

    /// <summary>
    /// Writes a part of the value, which the variable accepts as a value. Writes of other parts are not lost. The first part copies the
    /// array; as long as the copy is not shared, further parts are written into it.
    /// </summary>
    internal StatusCode SetPart(NumericRange range, in DataValue part, ref PartBudget budget)
    {
        lock (_gate)
        {
            // A variable may accept values of any type and rank.
            Variant present = _value.Value;
            if (!present.IsNull && (part.Value.Type != present.Type || part.Value.IsArray != present.IsArray))
            {
                return StatusCodes.BadTypeMismatch;
            }

            if ((!_isPrivate && !budget.TryCopy(_value.Value))
                || (_watchers is { Count: > 0 } && !budget.TryTell(_watchers.Count, CountBytes())))
            {
                return StatusCodes.BadTooManyOperations;
            }

            StatusCode status = range.Replace(_value.Value, part.Value, out Variant whole, inPlace: _isPrivate);
            if (status.IsGood)
            {
                SetAndTell(part with { Value = whole });
                _isPrivate = whole.IsArray && _watchers is not { Count: > 0 };
            }

            return status;
        }
    }

    /// <summary>Copies the value for a client; a scalar without a lock.</summary>
    internal void Read(out DataValue value)
    {
        if (_isReadable)
        {
            ReadStored(out value);
        }
        else
        {
            value = NotReadable;
        }
    }

    private void ReadStored(out DataValue value)
    {
        if (OnRead is not null)
        {
            value = NoContext.Call(static read => read(), OnRead);
            return;
        }

        // An array may be private.
        if (ValueRank != -1)
        {
            lock (_gate)
            {
                _isPrivate = false;
                value = _value;
                return;
            }
        }

        var wait = new SpinWait();
        while (true)
        {
            int before = Volatile.Read(ref _version);
            value = _value;
            Volatile.ReadBarrier();
            if ((before & 1) == 0 && before == Volatile.Read(ref _version))
            {
                return;
            }

            wait.SpinOnce();
        }
    }

    /// <summary>The access rights to the value for a client with these permissions.</summary>
    internal byte AccessLevelOf(bool mayRead, bool mayWrite) =>
        (byte)((_isReadable && mayRead ? CurrentRead : 0)
            | (!IsWritable || !mayWrite ? 0 : OnWrite is null ? CurrentWrite | StatusAndTimestampWrite : CurrentWrite));

    private byte AccessLevel => AccessLevelOf(mayRead: true, mayWrite: true);

    // Under the gate. With the value's bytes, if they were counted.
    private void SetAndTell(in DataValue value, long bytes = -1)
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        _version++;
        Volatile.WriteBarrier();
        _value = value;
        _valueBytes = bytes;
        _isPrivate = false;
        Volatile.Write(ref _version, _version + 1);
        Tell();
    }

    // Under the gate. Once for all monitored items.
    private long CountBytes() => _valueBytes >= 0 ? _valueBytes : _valueBytes = ValueBytes.Of(_value.Value);

    internal override bool TryReadAttribute(AttributeId attribute, out Variant value)
    {
        switch (attribute)
        {
            case AttributeId.DataType:
                value = DataType;
                return true;
            case AttributeId.ValueRank:
                value = ValueRank;
                return true;
            case AttributeId.ArrayDimensions when ValueRank > 0:
                value = Variant.FromArray(new uint[ValueRank]);
                return true;
            case AttributeId.AccessLevel or AttributeId.UserAccessLevel:
                value = AccessLevel;
                return true;
            case AttributeId.AccessLevelEx:
                value = (uint)AccessLevel;
                return true;
            case AttributeId.MinimumSamplingInterval:
                value = 0.0;
                return true;
            case AttributeId.Historizing:
                value = false;
                return true;
            default:
                return base.TryReadAttribute(attribute, out value);
        }
    }
}
