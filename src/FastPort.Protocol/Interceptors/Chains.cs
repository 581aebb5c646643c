namespace FastPort.Protocol.Interceptors;

/// <summary>Chains of interceptors. The first one is the outermost.</summary>
internal static class Chains
{
    public static Func<ClientCall<TRequest>, Task<TReply>> Around<TRequest, TReply>(
        IClientInterceptor[] interceptors, Func<ClientCall<TRequest>, Task<TReply>> call)
    {
        for (int i = interceptors.Length - 1; i >= 0; i--)
        {
            IClientInterceptor interceptor = interceptors[i];
            Func<ClientCall<TRequest>, Task<TReply>> next = call;
            call = one => interceptor.CallAsync(one, next);
        }

        return call;
    }

    public static Func<ClientCall<TRequest>, IAsyncEnumerable<TReply>> Around<TRequest, TReply>(
        IClientInterceptor[] interceptors, Func<ClientCall<TRequest>, IAsyncEnumerable<TReply>> call)
    {
        for (int i = interceptors.Length - 1; i >= 0; i--)
        {
            IClientInterceptor interceptor = interceptors[i];
            Func<ClientCall<TRequest>, IAsyncEnumerable<TReply>> next = call;
            call = one => interceptor.StreamAsync(one, next);
        }

        return call;
    }

    public static Func<ServerCall<TRequest>, ValueTask<TReply>> Around<TRequest, TReply>(
        IServerInterceptor[] interceptors, Func<ServerCall<TRequest>, ValueTask<TReply>> method)
    {
        for (int i = interceptors.Length - 1; i >= 0; i--)
        {
            IServerInterceptor interceptor = interceptors[i];
            Func<ServerCall<TRequest>, ValueTask<TReply>> next = method;
            method = call => interceptor.CallAsync(call, next);
        }

        return method;
    }

    public static Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> Around<TRequest, TReply>(
        IServerInterceptor[] interceptors, Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> method)
    {
        for (int i = interceptors.Length - 1; i >= 0; i--)
        {
            IServerInterceptor interceptor = interceptors[i];
            Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> next = method;
            method = call => interceptor.StreamAsync(call, next);
        }

        return method;
    }
}
