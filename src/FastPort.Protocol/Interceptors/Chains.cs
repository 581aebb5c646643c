namespace FastPort.Protocol.Interceptors;

/// <summary>Chains of interceptors.</summary>
internal static class Chains
{
    /// <summary>Puts interceptors around a call, or around a method. The first one is the outermost.</summary>
    /// <param name="interceptors">The interceptors.</param>
    /// <param name="last">The call itself.</param>
    /// <param name="invoke">Calls one interceptor with what it runs around.</param>
    public static Func<TCall, TResult> Around<TInterceptor, TCall, TResult>(
        TInterceptor[] interceptors, Func<TCall, TResult> last, Func<TInterceptor, TCall, Func<TCall, TResult>, TResult> invoke)
    {
        for (int i = interceptors.Length - 1; i >= 0; i--)
        {
            TInterceptor interceptor = interceptors[i];
            Func<TCall, TResult> next = last;
            last = call => invoke(interceptor, call, next);
        }

        return last;
    }
}
