using System.Reflection;
using System.Threading.Channels;
using StackExchange.Redis;

namespace FastPort.Redis.Tests.Support;

/// <summary>
/// A database that runs each command at once, and can withhold the answers: for what happens between a command and its answer. Public
/// and not sealed, as the runtime derives a class from it.
/// </summary>
public class HeldRedis : DispatchProxy
{
    private readonly Channel<HeldAnswer> _held = Channel.CreateUnbounded<HeldAnswer>();
    private IDatabase _redis = null!;
    private volatile bool _isHolding;

    /// <summary>The database as its users know it, and what is held of it.</summary>
    public static (IDatabase Database, HeldRedis Answers) Over(IDatabase redis)
    {
        IDatabase database = Create<IDatabase, HeldRedis>();
        var answers = (HeldRedis)(object)database;
        answers._redis = redis;
        return (database, answers);
    }

    /// <summary>From now on answers are held.</summary>
    public void Hold() => _isHolding = true;

    /// <summary>Later answers are not held any more.</summary>
    public void HoldNoMore() => _isHolding = false;

    /// <summary>The next answer that is held, when Redis has given it.</summary>
    internal Task<HeldAnswer> NextAsync() => _held.Reader.ReadAsync(Patience.Token).AsTask();

    /// <inheritdoc/>
    protected override object? Invoke(MethodInfo? targetMethod, object?[]? args)
    {
        object? answer = targetMethod!.Invoke(_redis, args);
        return !_isHolding
            ? answer
            : answer switch
            {
                Task<RedisResult> script => HoldAsync(script),
                Task<RedisValue> value => HoldAsync(value),
                Task<long> receivers => HoldAsync(receivers),
                _ => answer,
            };
    }

    private async Task<T> HoldAsync<T>(Task<T> answer)
    {
        T value = await answer;
        var held = new HeldAnswer();
        _held.Writer.TryWrite(held);
        await held.Task;
        return value;
    }
}

/// <summary>An answer that Redis has given and nobody has received yet.</summary>
internal sealed class HeldAnswer
{
    private readonly TaskCompletionSource _source = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task Task => _source.Task;

    public void Give() => _source.SetResult();

    /// <summary>It is lost: the command fails, although Redis has run it.</summary>
    public void Fail(Exception exception) => _source.SetException(exception);
}
