namespace FastPort.Carriers;

/// <summary>The carriers by name.</summary>
internal static class Carriers
{
    private const string Unbatched = "redis-each";

    public static IReadOnlyList<string> Names { get; } = ["redis", Unbatched, "streams", "rabbit", "orleans"];

    /// <summary>Makes a carrier from the engine's address; null if the name is none.</summary>
    public static Func<string, ICarrier>? Find(string name) => name switch
    {
        "redis" or Unbatched => static engine => new RedisPubSub(engine),
        "streams" => static engine => new RedisStream(engine),
        "rabbit" => static engine => new Rabbit(engine),
        "orleans" => static engine => new OrleansSilo(engine),
        _ => null,
    };

    /// <summary>Whether messages that wait go together.</summary>
    public static bool IsBatched(string name) => name != Unbatched;
}
