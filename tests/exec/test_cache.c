/* Which plans are kept, for how long, and what tells one from another. */
#include "exec/cache.h"
#include "exec/network.h"

typedef struct fixture {
    network n;
    evl_plan_cache cache;
    evl_value *x, *y, *z;
    evl_tensor given_t[2];
} fixture;

/* y = x + x, z = y + w, of vectors of any length; two plans are kept. */
static void begin(fixture *f)
{
    network_begin(&f->n);
    f->cache = (evl_plan_cache){ .graph = f->n.g, .env = f->n.env, .most = 2 };
    assert_int_equal(evl_plan_cache_start(f->n.ctx, &f->cache), EVAL_OK);
    f->x = toy_input(f->n.g, "x", -1);
    f->y = toy_node(f->n.g, &toy_sum, "y", f->x, f->x);
    f->z = toy_node(f->n.g, &toy_sum, "z", f->y, toy_input(f->n.g, "w", -1));
}

static void end(fixture *f)
{
    evl_plan_cache_end(&f->cache);
    network_end(&f->n);
}

static evl_selection key_of(fixture *f, evl_value *const *asked, int64_t length)
{
    evl_selection key = network_asking(&f->n, asked, f->given_t);
    f->given_t[0].shape.dim[0] = f->given_t[1].shape.dim[0] = length;
    return key;
}

static evl_cached_plan *get(fixture *f, const evl_selection *key)
{
    evl_cached_plan *e = NULL;
    if (evl_plan_cache_get(f->n.ctx, &f->cache, key, &e) != EVAL_OK)
        fail_msg("%s", f->n.ctx->error.text);
    return e;
}

/* Of z for vectors of that length, given back at once. */
static evl_cached_plan *touch(fixture *f, int64_t length)
{
    evl_selection key = key_of(f, &f->z, length);
    evl_cached_plan *e = get(f, &key);
    evl_plan_cache_release(&f->cache, e);
    return e;
}

static size_t count(const fixture *f)
{
    size_t n = 0;
    for (const evl_cached_plan *e = f->cache.newest; e; e = e->next)
        n++;
    return n;
}

static void a_plan_is_built_once(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    evl_cached_plan *first = touch(&f, 3);
    size_t before = evl_test_requests(f.n.ctx->memory);
    assert_ptr_equal(touch(&f, 3), first);
    assert_int_equal(evl_test_requests(f.n.ctx->memory), before);
    assert_int_equal(count(&f), 1);
    assert_int_equal(first->users, 1); /* the cache */
    end(&f);
}

static void the_key_is_a_copy(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    evl_value *asked = f.z, *given[] = { f.x, f.n.g->inputs[1] };
    evl_selection key = key_of(&f, &asked, 3);
    key.given = given;
    evl_cached_plan *e = get(&f, &key);
    memset(f.given_t, 0, sizeof f.given_t);
    asked = given[0] = given[1] = NULL;
    assert_ptr_equal(touch(&f, 3), e);
    evl_plan_cache_release(&f.cache, e);
    end(&f);
}

static void what_differs_in_anything_is_another_plan(void **state)
{
    (void)state;
    enum { KEYS = 8 };
    fixture f;
    begin(&f);
    f.cache.most = KEYS;
    evl_value *asked[] = { f.z, f.y }, *turned[] = { f.y, f.z };
    evl_value *other[] = { f.y, f.n.g->inputs[1] }; /* z can be made of y, too */
    evl_selection keys[KEYS];
    evl_tensor given_t[KEYS][2];
    evl_cached_plan *made[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = key_of(&f, asked, 3);
        memcpy(given_t[i], f.given_t, sizeof f.given_t);
        keys[i].given_t = given_t[i];
    }
    keys[1].n_asked = 2;
    keys[2].n_asked = 2;
    keys[2].asked = turned;
    keys[3].given = other;
    given_t[4][0].type = EVAL_INT32;
    given_t[5][0].shape.dim[0] = given_t[5][1].shape.dim[0] = 4;
    keys[6].asked = keys[7].asked = &f.y;
    keys[6].n_given = 1;
    for (size_t i = 0; i < 2 * KEYS; i++) { /* each is built, and found again */
        evl_cached_plan *e = get(&f, &keys[i % KEYS]);
        evl_plan_cache_release(&f.cache, e);
        if (i < KEYS)
            made[i] = e;
        assert_ptr_equal(e, made[i % KEYS]);
        assert_int_equal(count(&f), i < KEYS ? i + 1 : KEYS);
    }
    end(&f);
}

static void the_plan_unused_for_longest_goes(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    evl_cached_plan *one = touch(&f, 1);
    touch(&f, 2);
    assert_ptr_equal(touch(&f, 1), one); /* used again: 2 is the oldest now */
    touch(&f, 3);
    assert_int_equal(count(&f), 2);
    assert_ptr_equal(f.cache.newest->next, one);
    size_t before = evl_test_requests(f.n.ctx->memory);
    touch(&f, 1);
    assert_int_equal(evl_test_requests(f.n.ctx->memory), before);
    touch(&f, 2);
    assert_true(evl_test_requests(f.n.ctx->memory) > before); /* built again */
    end(&f);
}

static void a_plan_in_use_outlives_its_place(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    evl_selection key = key_of(&f, &f.z, 1);
    evl_cached_plan *used = get(&f, &key);
    assert_int_equal(used->users, 2);
    touch(&f, 2);
    touch(&f, 3);
    assert_int_equal(used->users, 1); /* the cache has let go */
    evl_session *s;
    assert_int_equal(evl_session_take(f.n.ctx, used->plan, &s), EVAL_OK);
    evl_session_give(used->plan, s);
    size_t held = atomic_load(&f.n.ctx->memory->blocks);
    evl_plan_cache_release(&f.cache, used);
    assert_true(atomic_load(&f.n.ctx->memory->blocks) < held);
    end(&f);
}

static void a_failure_leaves_nothing_behind(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    evl_selection key = key_of(&f, &f.z, 3);
    evl_cached_plan *e = NULL;
    size_t held = atomic_load(&f.n.ctx->memory->blocks);
    key.n_given = 1; /* w is needed */
    assert_int_equal(evl_plan_cache_get(f.n.ctx, &f.cache, &key, &e), EVAL_ERR_ARGUMENT);
    assert_non_null(strstr(f.n.ctx->error.text, "w"));
    assert_null(f.cache.newest);
    assert_int_equal(atomic_load(&f.n.ctx->memory->blocks), held);
    touch(&f, 3); /* nothing is locked either */
    end(&f);
}

static void the_largest_block_is_remembered(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    f.cache.most = 1;
    size_t most = touch(&f, 1000)->plan->block_bytes;
    assert_true(most >= 8000);
    assert_true(touch(&f, 10)->plan->block_bytes < most);
    assert_int_equal(f.cache.largest_block, most);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_built_once),
        cmocka_unit_test(the_key_is_a_copy),
        cmocka_unit_test(what_differs_in_anything_is_another_plan),
        cmocka_unit_test(the_plan_unused_for_longest_goes),
        cmocka_unit_test(a_plan_in_use_outlives_its_place),
        cmocka_unit_test(a_failure_leaves_nothing_behind),
        cmocka_unit_test(the_largest_block_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
